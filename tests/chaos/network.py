"""The network of a run: this process's own namespace with a bridge, and a namespace for each broker. What is cut is cut by nftables in the
broker's namespace. Everything ends with the namespaces, and those with the processes in them.
"""

import os
import subprocess

BRIDGE = "chaos0"
SUBNET = "10.77.0"


def run(*command, check=True):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Network:
    def __init__(self, brokers):
        self.prefix = f"chaos-{os.getpid()}"
        self.names = [f"{self.prefix}-{i}" for i in range(brokers)]
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{SUBNET}.254/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for i, name in enumerate(self.names):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"v{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"v{i}", "master", BRIDGE, "up")
            self.inside(i, "ip", "link", "set", "lo", "up")
            self.inside(i, "ip", "addr", "add", f"{self.host(i)}/24", "dev", "eth0")
            self.inside(i, "ip", "link", "set", "eth0", "up")
            self.inside(i, "nft", "add table inet chaos; add chain inet chaos in { type filter hook input priority 0; };"
                                  "add chain inet chaos out { type filter hook output priority 0; }")

    @staticmethod
    def host(broker):
        return f"{SUBNET}.{broker + 1}"

    def inside(self, broker, *command):
        return run(*self.enter(broker), *command)

    def enter(self, broker):
        """The beginning of a command that runs there. Not `ip netns exec`: that would hold every broker's volume mounted once more."""
        return ["nsenter", f"--net=/run/netns/{self.names[broker]}"]

    def others(self, broker):
        return ", ".join(self.host(i) for i in range(len(self.names)) if i != broker)

    def cut_off(self, broker):
        """From the other brokers, both ways; clients still reach it."""
        self.inside(broker, "nft", f"add rule inet chaos in ip saddr {{ {self.others(broker)} }} drop;"
                                   f"add rule inet chaos out ip daddr {{ {self.others(broker)} }} drop")

    def deafen(self, broker):
        """It hears no other broker, and they hear it."""
        self.inside(broker, "nft", f"add rule inet chaos in ip saddr {{ {self.others(broker)} }} drop")

    def cut_off_from_all(self, broker):
        self.inside(broker, "nft", "add rule inet chaos in drop; add rule inet chaos out drop")

    def heal(self, broker):
        self.inside(broker, "nft", "flush chain inet chaos in; flush chain inet chaos out")

    def close(self):
        for name in self.names:
            run("ip", "netns", "delete", name, check=False)
