"""The writer of atomic sets: one after the other over a connection to the leader, and what is known of each from its answer."""

import time

import kafka_raw

# Codes that say for certain that nothing of the set was or will be written. All but the first are the verdict of a check before the log, or
# of apply, which is the same on every replica; the first is said where a set was never proposed, or when another leader's entry has
# taken its place in the log. Not among them: REQUEST_TIMED_OUT (7) and NOT_ENOUGH_REPLICAS_AFTER_APPEND (20), for the entry may still be
# committed; KAFKA_STORAGE_ERROR (56), for others may have what this disk has not; UNKNOWN_SERVER_ERROR (-1).
NOT_LEADER_OR_FOLLOWER, MESSAGE_TOO_LARGE, INVALID_TOPIC, RECORD_LIST_TOO_LARGE = 6, 10, 17, 18
INVALID_TIMESTAMP, INVALID_REQUEST, NOT_ATTEMPTED, BAD_CODEC, INVALID_RECORD = 32, 42, 55, 76, 87
DEFINITE = {NOT_LEADER_OR_FOLLOWER, MESSAGE_TOO_LARGE, INVALID_TOPIC, RECORD_LIST_TOO_LARGE, INVALID_TIMESTAMP, INVALID_REQUEST,
            NOT_ATTEMPTED, BAD_CODEC, INVALID_RECORD}

MORE_THAN_A_BATCH = 1_100_000
UNKNOWN_PARTITION = 99
SPOILED_EACH_S = 0.02
SPOILED_OF_A_CONNECTION = 20


def brokers_and_leader(bootstrap, topic):
    """({broker: address}, the id of who leads), as the first says that answers; None of a cluster that has no leader."""
    for address in bootstrap.split(","):
        host, _, port = address.rpartition(":")
        try:
            with kafka_raw.Connection((host, int(port)), timeout=3) as connection:
                brokers = {broker: (host, port) for broker, host, port in connection.brokers()}
                leader = connection.metadata([topic])[topic][2][0][1]
                if leader in brokers:
                    return brokers, leader
        except (OSError, ValueError, KeyError, IndexError, kafka_raw.Closed):
            continue
    return None


def break_crc(batch):
    batch[-1] ^= 1


class Spoiler:
    """Gives a set a part that must be refused, in turn another one, in turn another place."""

    def __init__(self):
        self.count = 0
        self.too_large = kafka_raw.record_batch([bytes(MORE_THAN_A_BATCH)])

    def spoil(self, slices):
        topic, partition, batch = slices[self.count % len(slices)]
        parts = [(topic, UNKNOWN_PARTITION, batch), (topic, partition, self.too_large),
                 (topic, partition, kafka_raw.record_batch([b"broken"], change=break_crc)),
                 (topic, partition, batch)]  # a good one between those that are not
        slices[self.count % len(slices)] = parts[self.count // len(slices) % len(parts)]
        self.count += 1


class Route:
    """To the leader; of one who spoils sets, every second time to a broker that does not lead."""

    def __init__(self, bootstrap, topic, strays):
        self.bootstrap, self.topic, self.strays = bootstrap, topic, strays
        self.turn = 0

    def connect(self):
        """None while nobody leads."""
        known = brokers_and_leader(self.bootstrap, self.topic)
        if known is None:
            return None
        brokers, chosen = known
        if self.strays:
            self.turn += 1
            others = [broker for broker in brokers if broker != chosen]
            chosen = others[self.turn // 2 % len(others)] if self.turn % 2 and others else chosen
        return kafka_raw.Connection(brokers[chosen], timeout=5)


def write(name, bootstrap, history, topics, spoils, has_ended):
    number, connection = 0, None
    spoiler, route = Spoiler() if spoils else None, Route(bootstrap, topics[0][0], spoils)
    while not has_ended():
        try:
            connection = connection or route.connect()
            if connection is None:
                time.sleep(0.1)  # nobody leads, and nothing tells when somebody does
                continue
            slices = [(topic, partition, kafka_raw.record_batch([f"{name} {number}".encode()])) for topic, partition in topics]
            number += 1
            if spoiler:
                spoiler.spoil(slices)
                time.sleep(SPOILED_EACH_S)  # the pace of this writer
            errors = {error for error, _, _ in connection.produce_set(slices)}
            if errors == {0}:
                history.write(f"ack {name} {number - 1}\n")
            elif errors <= DEFINITE:
                history.write(f"refused {name} {number - 1} {min(errors - {NOT_ATTEMPTED} or errors)}\n")
            if NOT_LEADER_OR_FOLLOWER in errors or (number % SPOILED_OF_A_CONNECTION == 0 if spoiler else errors != {0}):
                connection.socket.close()
                connection = None
        except (OSError, ValueError, kafka_raw.Closed):
            # Nothing is known of this set; another connection, and another set.
            if connection is not None:
                connection.socket.close()
            connection = None
    history.write(f"sent {name} {number}\n")
    history.flush()
