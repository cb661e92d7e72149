"""Three brokers: one log, whoever leads it, and nothing acknowledged lost while leaders are killed, paused and drained."""

import json
import os
import shutil
import signal
import subprocess
import time

import confluent_kafka
import kafka_raw
from cluster import Cluster, ready
from harness import equal, wait_until


class Producer:
    """Numbered records to all partitions of a topic by one idempotent producer, and what became of each."""

    def __init__(self, cluster, topic, partitions):
        self.cluster, self.topic, self.partitions = cluster, topic, partitions
        self.acked, self.errors, self.sent = [], [], 0
        self.out = confluent_kafka.Producer({
            "bootstrap.servers": cluster.bootstrap, "enable.idempotence": True, "linger.ms": 1,
            "message.timeout.ms": 120_000,
            # Of a broker that is paused nothing comes, not even the end of the connection.
            "socket.timeout.ms": 3_000, "request.timeout.ms": 3_000, "socket.connection.setup.timeout.ms": 2_000,
            "on_delivery": self.delivered, "log_level": 0})

    def delivered(self, error, message):
        if error:
            self.errors.append(str(error))
        else:
            self.acked.append((message.partition(), message.offset(), message.value()))

    def send(self, until, deadline=120):
        """Sends until `until()` is true."""
        end = time.monotonic() + deadline
        while not until():
            assert time.monotonic() < end, f"{len(self.acked)} of {self.sent} acknowledged; errors: {self.errors[:3]}"
            # Few enough under way that each kill meets some.
            if self.sent - len(self.acked) - len(self.errors) < 200:
                self.out.produce(self.topic, b"%d" % self.sent, partition=self.sent % self.partitions)
                self.sent += 1
                self.out.poll(0)
            else:
                self.out.poll(0.01)

    def send_more(self, count):
        target = len(self.acked) + count
        self.send(lambda: len(self.acked) >= target)

    def finish(self):
        equal(self.out.flush(120), 0, "records without an answer")
        equal(self.errors[:3], [], "errors of deliveries")


def read_all(cluster, topic, partitions):
    """{partition: [(offset, value)]} up to the ends that the cluster says."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "unused",
                                         "enable.auto.commit": False, "check.crcs": True, "log_level": 0})
    consumer.assign([confluent_kafka.TopicPartition(topic, p, 0) for p in range(partitions)])
    ends = [consumer.get_watermark_offsets(confluent_kafka.TopicPartition(topic, p), timeout=30)[1]
            for p in range(partitions)]
    read = {p: [] for p in range(partitions)}
    end = time.monotonic() + 60
    while sum(len(records) for records in read.values()) < sum(ends):
        assert time.monotonic() < end, f"read { {p: len(r) for p, r in read.items()} } of {ends}"
        for message in consumer.consume(1000, 0.5):
            if not message.error():
                read[message.partition()].append((message.offset(), message.value()))
    consumer.close()
    return read


def check(producer):
    """Every acknowledged record at its offset, each once, in the order of their sending."""
    read = read_all(producer.cluster, producer.topic, producer.partitions)
    for partition, offset, value in producer.acked:
        found = read[partition][offset] if offset < len(read[partition]) else None
        equal(found, (offset, value), f"partition {partition}")
    for partition, records in read.items():
        equal([offset for offset, _ in records], list(range(len(records))), f"offsets of partition {partition}")
        values = [int(value) for _, value in records]
        assert values == sorted(set(values)), f"partition {partition} is out of order, or has one twice"
    equal(sum(len(records) for records in read.values()), len(producer.acked), "records read and acknowledged")


def test_first_birth_needs_all_and_names_who_is_missing(t):
    cluster = Cluster(t)
    cluster[2].spawn()
    cluster[0].spawn()

    def names_the_third(broker):
        is_ready, reasons = ready(broker)
        assert not is_ready, "ready without the third"
        return any("broker 1 is missing" in reason for reason in reasons)
    for broker in (cluster[0], cluster[2]):
        wait_until(lambda broker=broker: names_the_third(broker), "the missing broker is named")
    began = time.monotonic()
    equal(t.ctl(cluster[0], "drain", "--timeout", "120s")[:2], (0, "drain: the broker did not begin to drain\n"))
    assert time.monotonic() - began < 30, "it waited for a broker that does not serve"
    cluster[1].spawn()
    cluster.wait_ready()
    ids = {json.loads(broker.http("/v1/cluster")[1])["clusterId"] for broker in cluster.brokers}
    equal(len(ids), 1, f"cluster ids {ids}")
    # Later starts need a majority.
    for broker in cluster.brokers:
        equal(broker.terminate(), 0)
    cluster[1].spawn()
    cluster[2].spawn()
    cluster.wait_ready(1, 2)
    equal(json.loads(cluster[2].http("/v1/cluster")[1])["clusterId"], ids.pop())


def test_topics_are_made_through_any_broker(t):
    cluster = Cluster(t).start()
    for i in range(3):
        cluster.topic(f"made-by-{i}", partitions=2, by=i)
    for broker in cluster.brokers:
        names = sorted(topic["name"] for topic in json.loads(broker.http("/v1/topics")[1])["topics"])
        equal(names, ["made-by-0", "made-by-1", "made-by-2"])


def test_killed_leaders_lose_nothing(t):
    cluster = Cluster(t).start()
    producer = Producer(cluster, cluster.topic("orders", 3), 3)
    producer.send_more(500)
    for _ in range(4):
        leader = cluster.leader()
        cluster[leader].kill()
        producer.send_more(500)
        cluster.restart(leader)
    producer.finish()
    cluster.wait_same_index()
    check(producer)


def test_paused_leader_is_replaced_and_comes_back(t):
    cluster = Cluster(t).start()
    producer = Producer(cluster, cluster.topic("orders", 3), 3)
    producer.send_more(500)
    for _ in range(2):
        leader = cluster.leader()
        os.kill(cluster[leader].pid, signal.SIGSTOP)
        try:
            producer.send_more(500)
            assert cluster.leader(but_not=leader) != leader
        finally:
            os.kill(cluster[leader].pid, signal.SIGCONT)
        producer.send_more(500)
    producer.finish()
    cluster.wait_same_index()
    check(producer)


def test_stopped_leaders_hand_over_without_an_error(t):
    cluster = Cluster(t).start()
    producer = Producer(cluster, cluster.topic("orders", 3), 3)
    producer.send_more(500)
    for _ in range(3):
        leader = cluster.leader()
        code, said, words = t.ctl(cluster[leader], "drain")
        equal(code, 0, said + words)
        producer.send_more(300)
        assert cluster.leader() != leader, "it leads after the drain"
        equal(cluster[leader].terminate(), 0)
        producer.send_more(300)
        cluster.restart(leader)
    # Without a drain before it.
    leader = cluster.leader()
    equal(cluster[leader].terminate(), 0)
    producer.send_more(300)
    cluster.restart(leader)
    producer.finish()
    cluster.wait_same_index()
    check(producer)


def fetches(broker):
    return next(float(line.split()[1]) for line in broker.http("/metrics")[1].splitlines()
                if line.startswith('braidmq_requests_total{api="Fetch"}'))


def test_a_consumer_reads_from_the_replica_in_its_rack(t):
    """And goes on when that one, or the leader, is gone."""
    cluster = Cluster(t, replica_selector_class="org.apache.kafka.common.replica.RackAwareReplicaSelector")
    for i, broker in enumerate(cluster.brokers):
        broker.settings["broker.rack"] = f"rack-{i}"
    cluster.start()
    producer = Producer(cluster, cluster.topic("orders"), 1)
    producer.send_more(500)
    leader = cluster.leader()
    near = (leader + 1) % 3
    seen = []
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": cluster.bootstrap, "group.id": "unused", "enable.auto.commit": False, "client.rack": f"rack-{near}",
        "auto.offset.reset": "error", "socket.timeout.ms": 3_000, "topic.metadata.refresh.interval.ms": 1_000, "log_level": 0})
    consumer.assign([confluent_kafka.TopicPartition("orders", 0, 0)])

    def read_all():
        end = time.monotonic() + 60
        while len(seen) < len(producer.acked):
            assert time.monotonic() < end, f"{len(seen)} of {len(producer.acked)} read"
            for message in consumer.consume(500, 0.2):
                # A broker that is gone is told of as an error, and another one is read from.
                if message.error():
                    assert message.error().code() != confluent_kafka.KafkaError._AUTO_OFFSET_RESET, str(message.error())
                    continue
                equal(message.offset(), len(seen))
                seen.append(message.value())

    read_all()
    before = [fetches(broker) for broker in cluster.brokers]
    for _ in range(5):
        producer.send_more(100)
        read_all()
    after = [fetches(broker) for broker in cluster.brokers]
    assert after[near] - before[near] >= 5, f"fetches of {near}: {before} then {after}"
    assert after[leader] - before[leader] < after[near] - before[near], f"fetches of the leader {leader}: {before} then {after}"
    cluster[near].kill()
    producer.send_more(300)
    read_all()
    cluster.restart(near)
    cluster[leader].kill()
    producer.send_more(300)
    read_all()
    cluster.restart(leader)
    consumer.close()
    producer.finish()
    check(producer)


def test_all_killed_at_once(t):
    cluster = Cluster(t).start()
    producer = Producer(cluster, cluster.topic("orders", 3), 3)
    for _ in range(3):
        producer.send_more(500)
        for broker in cluster.brokers:
            broker.kill()
        cluster.start()
    producer.send_more(500)
    producer.finish()
    check(producer)


def test_without_a_majority_nothing_is_acknowledged(t):
    cluster = Cluster(t).start()
    topic = cluster.topic("orders")
    leader = cluster.leader()
    others = [i for i in range(3) if i != leader]
    for i in others:
        cluster[i].kill()
    with kafka_raw.Connection(cluster[leader].address, timeout=60) as connection:
        error, _ = connection.produce(topic, kafka_raw.record_batch([b"alone"]))
    assert error != 0, "acknowledged by one of three"
    cluster.restart(others[0])
    producer = Producer(cluster, topic, 1)
    producer.send_more(100)
    producer.finish()


def test_emptied_folder_does_not_take_part(t):
    cluster = Cluster(t).start()
    producer = Producer(cluster, cluster.topic("orders"), 1)
    producer.send_more(200)
    victim = (cluster.leader() + 1) % 3
    cluster[victim].kill()
    shutil.rmtree(cluster[victim].folder / "data")
    shutil.rmtree(cluster[victim].folder / "wal")
    cluster[victim].spawn()
    wait_until(lambda: any("another life" in reason for reason in ready(cluster[victim])[1]), "it says why")
    producer.send_more(200)
    producer.finish()
    assert not ready(cluster[victim])[0]
    check(producer)


def test_java_through_killed_leaders(t):
    cluster = Cluster(t).start()
    cluster.topic("orders", 2)
    cluster.topic("inventory", 1)
    acked = t.folder / "acked.txt"
    loader = subprocess.Popen(t.java_command("Loader.java", cluster.bootstrap, acked, 0, 6000, 500, "orders:2", "inventory:1"),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        def acknowledged():
            return acked.read_bytes().count(b"\n") if acked.exists() else 0

        def fail_if_ended():
            if loader.poll() is not None:
                raise AssertionError(f"loader ended early: {loader.stdout.read().decode()}")

        for kill in range(1, 4):
            wait_until(lambda: acknowledged() >= kill * 1200, f"{kill * 1200} acknowledged", timeout=120,
                       check=fail_if_ended)
            leader = cluster.leader()
            cluster[leader].kill()
            assert loader.poll() is None, "the loader was through before the kill: nothing was in flight"
            cluster.leader()
            cluster.restart(leader)
        output, _ = loader.communicate(timeout=180)
        equal(loader.returncode, 0, output.decode())
    finally:
        loader.kill()
        loader.wait()
    said = t.java("Verifier.java", cluster.bootstrap, acked, "orders", "inventory")
    assert "acknowledged 6000, read 6000, lost 0, faults 0" in said, said
