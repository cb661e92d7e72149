"""Apache Kafka in BraidMQ's place, under the same writers, reader and checker: to see that they neither cry wolf nor sleep.

Without a fault nothing may be reported. With acks=1 a leader acknowledges what it alone has: when its followers stand still meanwhile and
it dies, they elect one of them and the records are gone, as Kafka promises no more. The checker has to report that, and nothing else.
"""

import pathlib
import sys
import time

import confluent_kafka
import confluent_kafka.admin
import topics
from clients import Clients
from network import Network

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kafka"))

BROKERS = 3
TOPICS = ["orders:3", "inventory:2"]
ONE_PARTITION = ["orders:1"]
# Much less than the 30 s after which a follower leaves the set of replicas that may lead.
ALONE_S = 4
ELECTED_S = 60


def run(options, folder):
    import kafka
    network = Network(BROKERS)
    hosts = [network.host(i) for i in range(BROKERS)]
    cluster = kafka.Kafka(options.kafka, folder, hosts, prefixes=[network.enter(i) for i in range(BROKERS)])
    clients = Clients(folder, cluster.bootstrap)
    try:
        cluster.start()
        return (lose if options.acks == "1" else leave_alone)(options, cluster, clients)
    finally:
        clients.kill()
        cluster.close()
        network.close()


def leave_alone(options, cluster, clients):
    topics.make((cluster.brokers[0].host, 9092), TOPICS)
    clients.start_java(options.java, TOPICS)
    clients.start_producers("producer", TOPICS)
    clients.start_reader(TOPICS)
    clients.wait_java()
    time.sleep(options.seconds)  # the run lasts so long
    clients.stop()
    verdict, lacking = clients.judge(topics.read_everything(cluster.bootstrap, TOPICS))
    print(verdict.words())
    for words in lacking:
        print(f"invalid: {words}")
    return verdict.is_clean and not lacking


def lose(options, cluster, clients):
    topics.make((cluster.brokers[0].host, 9092), ONE_PARTITION)
    clients.start_producers("acks1", ONE_PARTITION)
    clients.start_reader(ONE_PARTITION)
    time.sleep(options.seconds)  # acknowledged by one, and had by all
    leader = wait_leader(cluster, set())
    followers = [broker for broker in cluster.brokers if broker is not leader]
    for broker in followers:
        broker.pause()
    time.sleep(ALONE_S)  # acknowledged by one, and had by nobody else
    leader.kill()
    for broker in followers:
        broker.go_on()
    print(f"broker {leader.id} led alone for {ALONE_S} s, and was killed", flush=True)
    elected = wait_leader(cluster, {leader.id})
    print(f"broker {elected.id} was elected", flush=True)
    time.sleep(options.seconds)  # other records in the place of those that are gone
    leader.start()
    cluster.wait_ready()
    clients.stop()
    verdict, lacking = clients.judge(topics.read_everything(cluster.bootstrap, ONE_PARTITION))
    print(verdict.words())
    for words in lacking:
        print(f"invalid: {words}")
    reported = {kind for kind, found in verdict.faults.items() if found}
    print(f"reported: {', '.join(sorted(reported)) or 'nothing'}; to be reported: lost")
    return reported == {"lost"} and not lacking


def wait_leader(cluster, but_not):
    """Of the one partition."""
    client = confluent_kafka.admin.AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    end = time.monotonic() + ELECTED_S
    while time.monotonic() < end:
        try:
            leader = client.list_topics("orders", timeout=2).topics["orders"].partitions[0].leader
        except (confluent_kafka.KafkaException, LookupError):
            continue
        if leader >= 0 and leader not in but_not:
            return cluster.brokers[leader]
        time.sleep(0.1)  # another process is asked, and nothing tells
    raise RuntimeError(f"nobody but {sorted(but_not)} leads after {ELECTED_S} s")
