#!/usr/bin/env python3
"""run.py --broker PROGRAM [--seconds S] [--seed N]: three brokers under load and faults, then the verdict over every acknowledged record.
run.py --target kafka [--acks 1]: the same load and checker over Apache Kafka, to see that they find what is lost.

Needs root: namespaces of network and mounts, loop devices, nftables. Everything happens in namespaces of this run's own, and ends with it.
Prints each fault, then "N acknowledged records checked: ..."; ends with 1 when a record is lost, doubled, out of order or torn, when
the cluster does not come back, or when fewer than 500 records a second were acknowledged: such a run proves nothing.
"""

import argparse
import collections
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration")]
import peer  # noqa: E402
import schedule  # noqa: E402
import topics  # noqa: E402
from brokers import Cluster  # noqa: E402
from clients import SETS, TOPICS, Clients  # noqa: E402

LEAST_PER_SECOND = 500
LEAST_OF_FULL_RUN = 500_000
VICTIM_S = 10


def enter_namespaces():
    """The same program again in namespaces of its own: what it makes there ends with it."""
    os.execvp("unshare", ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
                          sys.executable, *sys.argv, "--inside"])


class Faults:
    """Carries out a schedule, each fault on a thread of its own."""

    def __init__(self, cluster, begun):
        self.cluster, self.begun = cluster, begun
        self.counts, self.failures = collections.Counter(), []
        self.lock = threading.Lock()

    def victims(self, fault):
        """Whom it meets: none that another fault is about. Waits a while for them."""
        end = time.monotonic() + VICTIM_S
        while time.monotonic() < end:
            with self.lock:
                if fault.victim is None:
                    chosen = self.cluster.brokers
                else:
                    one = self.cluster.leader() if fault.victim == "leader" else self.cluster.brokers[fault.victim]
                    chosen = [one] if one else []
                if chosen and not any(broker.busy for broker in chosen):
                    for broker in chosen:
                        broker.busy = True
                    return list(chosen)
            time.sleep(0.05)  # until the other fault is over, or somebody leads
        return []

    def carry_out(self, fault):
        victims = []
        try:
            victims = self.victims(fault)
            ended = [broker for broker in victims if not broker.runs()]
            if ended:
                self.failures.append(f"broker {ended[0].id} had ended by itself: {ended[0].last_words()}")
            elif not victims:
                print(f"{time.monotonic() - self.begun:7.1f} s  left out: {fault}", flush=True)
            else:
                whom = ", ".join(str(broker.id) for broker in victims)
                print(f"{time.monotonic() - self.begun:7.1f} s  {fault} ({whom})", flush=True)
                self.counts[fault.kind] += self.hurt(fault, victims)
        except (OSError, RuntimeError, subprocess.SubprocessError) as e:
            self.failures.append(f"{fault}: {e}")
        finally:
            for broker in victims:
                broker.busy = False

    def hurt(self, fault, victims):
        """Whether it did."""
        network = self.cluster.network
        if fault.kind == "pause":
            victims[0].pause()
            time.sleep(fault.seconds)  # the fault lasts so long
            victims[0].go_on()
        elif fault.kind in ("cut_off", "deafen", "cut_off_from_all"):
            getattr(network, fault.kind)(victims[0].id)
            time.sleep(fault.seconds)
            network.heal(victims[0].id)
        elif fault.kind == "failed_sync":
            failed = victims[0].fail_sync()
            time.sleep(fault.seconds)
            victims[0].start()
            return failed
        else:
            has_power = fault.kind == "kill"
            for broker in victims:
                if not has_power:
                    broker.volume.cut_power()
            for broker in victims:
                broker.kill()
                if not has_power:
                    broker.volume.come_back()
            time.sleep(fault.seconds)
            for broker in victims:
                broker.start()
        return True


def compare_replicas(cluster, read):
    """Each of the others leads in turn, and gives the same."""
    seen = {cluster.wait_leader(set()).id}
    while len(seen) < len(cluster.brokers):
        before = cluster.wait_leader(set())
        before.kill()
        now = cluster.wait_leader({before.id})
        if now.id not in seen and topics.read_everything(cluster.bootstrap, TOPICS + SETS) != read:
            raise RuntimeError(f"broker {now.id} gives other records than broker {before.id}")
        seen.add(now.id)
        before.start()
        cluster.wait_ready()
        cluster.wait_level()


def run(options, folder):
    cluster = Cluster(options.broker, folder)
    clients = Clients(folder, cluster.bootstrap)
    try:
        cluster.start()
        topics.make((cluster.brokers[0].host, 9092), TOPICS + SETS)
        clients.start_java(options.java, TOPICS)
        begun = time.monotonic()
        clients.start_producers("producer", TOPICS)
        clients.start_sets(SETS)
        clients.start_reader(TOPICS + SETS)
        faults = Faults(cluster, begun)
        threads = []
        for fault in schedule.draw(options.seed, options.seconds, len(cluster.brokers)):
            time.sleep(max(0.0, begun + fault.at - time.monotonic()))  # until it is time
            threads.append(threading.Thread(target=faults.carry_out, args=[fault]))
            threads[-1].start()
        for thread in threads:
            thread.join()
        cluster.wait_ready()
        lasted = time.monotonic() - begun
        clients.stop()
        cluster.wait_level()
        read = topics.read_everything(cluster.bootstrap, TOPICS + SETS)
        verdict, lacking = clients.judge(read, SETS)
        compare_replicas(cluster, read)
        rate = verdict.checked / lasted
        lacking += schedule.missing(faults.counts, options.seconds)
        if options.seconds >= schedule.FULL_RUN_S and verdict.checked < LEAST_OF_FULL_RUN:
            lacking.append(f"{verdict.checked} acknowledged records, {LEAST_OF_FULL_RUN} are needed")
        print("faults: " + ", ".join(f"{count} {kind}" for kind, count in sorted(faults.counts.items())) + f" in {lasted:.0f} s")
        print(verdict.words())
        print(f"{rate:.0f} acknowledgements a second; every broker has led and given the same records")
        for words in faults.failures:
            print(f"failed: {words}")
        if rate < LEAST_PER_SECOND:
            lacking.append(f"{rate:.0f} acknowledgements a second, {LEAST_PER_SECOND} are needed")
        for words in lacking:
            print(f"invalid: {words}")
        return verdict.is_clean and not faults.failures and not lacking
    finally:
        clients.kill()
        cluster.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    deps = HERE.parents[1] / "build/deps"
    parser.add_argument("--target", choices=["braidmq", "kafka"], default="braidmq", help="kafka: see peer.py")
    parser.add_argument("--broker", type=pathlib.Path, help="BraidMQ's program")
    parser.add_argument("--acks", choices=["all", "1"], default="all", help="1: only with kafka, which has to lose records")
    parser.add_argument("--java", type=pathlib.Path, default=deps / "java", help="kafka-clients and what it needs")
    parser.add_argument("--kafka", type=pathlib.Path, default=deps / "kafka", help="Apache Kafka's jars")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leave logs and histories")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.target == "braidmq" and (options.broker is None or options.acks != "all"):
        parser.error("braidmq needs --broker, and acknowledges for all")
    if not options.inside:
        enter_namespaces()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Where `ip netns` keeps names: ours alone, and gone with this process.
    os.makedirs("/run/netns", exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/netns"], check=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="braid-chaos-"))
    print(f"seed {options.seed}, {options.seconds:.0f} s", flush=True)
    ok = False
    try:
        ok = (peer.run if options.target == "kafka" else run)(options, folder)
    except Exception as e:  # Whatever ends a run is its failure.
        print(f"failed: {e!r}")
    finally:
        if options.keep or not ok:
            print(f"logs and histories: {folder}")
            for image in folder.glob("*/disk.img"):
                image.unlink(missing_ok=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{1 if ok else 0} passed, {0 if ok else 1} failed")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
