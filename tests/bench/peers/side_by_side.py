"""The rows that BraidMQ and Kafka share: both run, and take turns under the same load, round after round."""

import time

from report import Row, load_average, median, words_of
from systems import ApacheKafka, Transactions

PARTITIONS = 6
LEAST_RATIO_OF_TRANSACTIONS, LEAST_RATIO_OF_RATES, MOST_IDLE_MIB = 8, 1, 64
IDLE_S = 5
# Kafka's broker looks at a transaction again after so long (20 by default) when the one before it has not quite ended.
TUNED = {"add.partitions.to.txn.retry.backoff.ms": 1}


class Both:
    """`length`: how many rounds there are, how many seconds each takes, and how many before them count for neither system:
    Kafka's code is compiled by use."""

    def __init__(self, braid, kafka, load, length):
        self.braid, self.kafka, self.load, self.length = braid, kafka, load, length

    def alternate(self, of_braid, of_kafka):
        """What each said in each round."""
        of_braid(self.length.warm_up)
        of_kafka(self.length.warm_up)
        said = [(of_braid(self.length.seconds), of_kafka(self.length.seconds)) for _ in range(self.length.rounds)]
        return [list(side) for side in zip(*said)]


def medians(said, key):
    return median([one[key] for one in said])


def idle(both):
    """Before the first load."""
    time.sleep(IDLE_S)  # idle for so long
    ours, theirs = max(both.braid.resident_mib()), max(both.kafka.resident_mib())
    return Row("Resident memory of an idle broker, the largest of three", f"{ours:.1f} MiB", f"< {MOST_IDLE_MIB} MiB",
               ours < MOST_IDLE_MIB, f"Kafka {theirs:.0f} MiB", braid_mib=ours, kafka_mib=theirs)


def atomic(both):
    for system in (both.braid, both.kafka):
        for topic in ("payments", "ledger"):
            system.topic(topic, counted=system is both.braid)
    leader = both.braid.leader()
    transactions = Transactions(both.kafka, "payments", "ledger")
    try:
        ours, theirs = both.alternate(
            lambda seconds: both.load("atomic", both.braid, "payments", seconds, "--second-topic", "ledger", bootstrap=leader,
                                      also=["ledger"]),
            transactions)
    finally:
        transactions.close()
    our_ms, their_ms = medians(ours, "p50_ms"), medians(theirs, "p50_ms")
    ratio = their_ms / our_ms
    return Row("Atomic write of 2 topics x 1 KiB, serial, p50, against Kafka's transaction (backoff 1 ms)",
               f"{our_ms:.3f} ms, {ratio:.1f} x below {their_ms:.2f} ms", f">= {LEAST_RATIO_OF_TRANSACTIONS} x",
               ratio >= LEAST_RATIO_OF_TRANSACTIONS,
               f"p99 {medians(ours, 'p99_ms'):.2f} ms, Kafka {medians(theirs, 'p99_ms'):.2f} ms; every ack of BraidMQ from two disks, "
               "of Kafka from two memories",
               braid=ours, kafka=theirs, ratio=ratio)


def rates(both):
    for system in (both.braid, both.kafka):
        system.topic("stream", PARTITIONS)
    ours, theirs = both.alternate(*(lambda seconds, system=system: both.load("throughput", system, "stream", seconds)
                                    for system in (both.braid, both.kafka)))
    our_rate, their_rate = medians(ours, "records_per_second"), medians(theirs, "records_per_second")
    ratio = our_rate / their_rate
    return Row(f"Records of 1 KiB a second, acks=all, {PARTITIONS} partitions",
               f"{our_rate:,.0f}, {ratio:.2f} x {their_rate:,.0f}", f">= {LEAST_RATIO_OF_RATES} x", ratio >= LEAST_RATIO_OF_RATES,
               f"rounds: {rounds_of(ours)} against {rounds_of(theirs)}", braid=ours, kafka=theirs, ratio=ratio)


def rounds_of(said):
    return " ".join(f"{one['records_per_second']:,.0f}" for one in said)


def latencies(both):
    for system in (both.braid, both.kafka):
        system.topic("single", 1)
    ours, theirs = both.alternate(*(lambda seconds, system=system: both.load("latency", system, "single", seconds)
                                    for system in (both.braid, both.kafka)))
    our_ms, their_ms = medians(ours, "p50_ms"), medians(theirs, "p50_ms")
    return Row("Records of 1 KiB one by one, acks=all, p50", f"{our_ms:.3f} ms", f"< {their_ms:.3f} ms (Kafka)", our_ms < their_ms,
               f"p99 {medians(ours, 'p99_ms'):.2f} ms, Kafka {medians(theirs, 'p99_ms'):.2f} ms", braid=ours, kafka=theirs)


def transactions_by_default(jars, folder, length):
    """Of a Kafka without our setting; nothing else runs."""
    kafka = ApacheKafka(jars, folder)
    try:
        kafka.start()
        for topic in ("payments", "ledger"):
            kafka.topic(topic, counted=False)
        transactions = Transactions(kafka, "payments", "ledger")
        transactions(length.warm_up)
        said = [transactions(length.seconds) for _ in range(length.rounds)]
        transactions.close()
    finally:
        kafka.close()
    return Row("Kafka's transaction by default (backoff 20 ms), p50", f"{medians(said, 'p50_ms'):.2f} ms",
               note=f"p99 {medians(said, 'p99_ms'):.2f} ms", kafka=said)


# The dearest load comes early: it compiles most of Kafka.
ROWS = {"idle": idle, "rates": rates, "latencies": latencies, "atomic": atomic}


def measure(names, braid, jars, folder, load, length, show):
    kafka = ApacheKafka(jars, folder / "tuned", TUNED)
    try:
        kafka.start()
        both = Both(braid, kafka, load, length)
        for name in names:
            before = load_average()
            row = ROWS[name](both)
            row.note += f"; load average {words_of(before)}"
            show(row)
        braid.check_written()
        kafka.check_written()
    finally:
        kafka.close()
    if "atomic" in names:
        show(transactions_by_default(jars, folder / "default", length))
