"""What is done to the brokers and when: drawn from a seed, so that a run can be had again as far as processes allow. Pure."""

import random

# How often, against each other. Those that lose what is not synced take longest to come back from.
KINDS = {"kill": 5, "pause": 3, "cut_off": 3, "deafen": 2, "cut_off_from_all": 1, "power_cut": 3, "power_cut_of_all": 2,
         "failed_sync": 3}


# What a full run has to carry out, by what counts for it.
FULL_RUN_S = 500
REQUIRED = [(20, ("kill",)), (20, ("pause", "cut_off", "deafen", "cut_off_from_all")), (10, ("power_cut", "power_cut_of_all")),
            (4, ("power_cut_of_all",)), (4, ("failed_sync",))]


def missing(counts, seconds):
    """What a run of so long has done too seldom."""
    if seconds < FULL_RUN_S:
        return []
    done = [(least, kinds, sum(counts.get(kind, 0) for kind in kinds)) for least, kinds in REQUIRED]
    return [f"{count} of {' or '.join(kinds)}, {least} are needed" for least, kinds, count in done if count < least]


class Fault:
    def __init__(self, at, kind, victim, seconds):
        self.at, self.kind, self.victim, self.seconds = at, kind, victim, seconds

    def __str__(self):
        whom = "all brokers" if self.victim is None else "the leader" if self.victim == "leader" else f"broker {self.victim}"
        return f"{self.kind} of {whom} for {self.seconds:.1f} s"


def draw(seed, seconds, brokers):
    """Faults by rising time. Now and then one begins before the one before it has ended."""
    chance = random.Random(seed)
    faults, at = [], 3.0
    while True:
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        lasts = chance.uniform(0.2, 2.5) if "power" in kind or kind in ("kill", "failed_sync") else chance.uniform(1.0, 5.0)
        victim = None if kind == "power_cut_of_all" else "leader" if chance.random() < 0.5 else chance.randrange(brokers)
        if at + lasts > seconds - 5:
            return faults
        faults.append(Fault(at, kind, victim, lasts))
        at += chance.uniform(0.3, 1.0) * lasts if chance.random() < 0.25 else lasts + chance.uniform(1.0, 4.0)
