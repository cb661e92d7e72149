"""Holds what was acknowledged against what can be read in the end. Pure.

An acknowledgement is (producer, topic, partition, offset, number); what is read is {(topic, partition): [value by offset]}, a value being
"PRODUCER NUMBER". A producer is one idempotent session: its numbers rise within each partition. Sets are values that were written to
several partitions in one atomic request each. What readers saw meanwhile is a list of events, as reader.py writes them.
"""

import collections


def parse(value):
    """(producer, number), or None of what nobody wrote, whatever it is."""
    try:
        producer, number = value.decode("ascii").split(" ")
    except (AttributeError, UnicodeDecodeError, ValueError):
        return None
    return (producer, int(number)) if number.isdigit() and producer else None


KINDS = ("lost", "duplicated", "reordered", "torn", "refused", "unknown", "changed", "vanished", "skipped", "repeated", "reset")


class Verdict:
    def __init__(self):
        self.checked = 0
        self.faults = collections.OrderedDict((kind, []) for kind in KINDS)

    def add(self, kind, words):
        self.faults[kind].append(words)

    @property
    def is_clean(self):
        return not any(self.faults.values())

    def words(self):
        counts = ", ".join(f"{len(found)} {kind}" for kind, found in self.faults.items())
        examples = "".join(f"\n  {kind}: {found[0]}" for kind, found in self.faults.items() if found)
        return f"{self.checked} acknowledged records checked: {counts}{examples}"


def check(acknowledged, read, sent):
    """`sent`: how many records each producer has sent, by its name; anything else in the topics was never sent."""
    verdict = Verdict()
    where = collections.defaultdict(list)
    for (topic, partition), values in read.items():
        last = {}
        for offset, value in enumerate(values):
            known = parse(value)
            if known is None or known[1] >= sent.get(known[0], 0):
                verdict.add("unknown", f"{topic}-{partition} offset {offset} holds {repr(value)[:80]}, which nobody has sent")
                continue
            producer, number = known
            where[(topic, partition, producer, number)].append(offset)
            if number <= last.get(producer, -1) and len(where[(topic, partition, producer, number)]) == 1:
                verdict.add("reordered", f"{topic}-{partition} offset {offset}: {producer} {number} comes after {last[producer]}")
            last[producer] = max(number, last.get(producer, -1))
    for (topic, partition, producer, number), offsets in where.items():
        if len(offsets) > 1:
            verdict.add("duplicated", f"{topic}-{partition}: {producer} {number} is at offsets {offsets[:5]}")
    for producer, topic, partition, offset, number in acknowledged:
        verdict.checked += 1
        if offset not in where.get((topic, partition, producer, number), ()):
            verdict.add("lost", f"{topic}-{partition} offset {offset}: {producer} {number} was acknowledged and is not there")
    return verdict


def check_sets(acknowledged, refused, read, partitions, sent, verdict):
    """`acknowledged`, `refused`: (writer, number) of sets, the latter of those that must be nowhere. One of which nothing is known may be
    there, whole; nothing else may. Adds to `verdict`."""
    for kind, found in check([], {one: read[one] for one in partitions}, sent).faults.items():
        for words in found:
            verdict.add(kind, words)
    held = [{parse(value) for value in read[one]} - {None} for one in partitions]
    for number in sorted(set.union(*held)):
        lacking = [f"{one[0]}-{one[1]}" for one, values in zip(partitions, held) if number not in values]
        if lacking:
            verdict.add("torn", f"set {number} is not in {', '.join(lacking)}")
    for number in refused:
        there = [f"{one[0]}-{one[1]}" for one, values in zip(partitions, held) if number in values]
        if there:
            verdict.add("refused", f"set {number} was refused for certain and is in {', '.join(there)}")
    for number in acknowledged:
        verdict.checked += len(partitions)
        for one, values in zip(partitions, held):
            if number not in values:
                verdict.add("lost", f"{one[0]}-{one[1]}: set {number} was acknowledged and is not there")


def check_reads(events, read, verdict):
    """Of one reader: ("from", topic, partition, offset) where it placed itself, ("read", topic, partition, offset, value as repr() has it),
    ("reset", topic, partition, words) when its place was said not to be there. Adds to `verdict`; how far it came, over all partitions."""
    expected, farthest = {}, collections.Counter()
    for what, topic, partition, where, *value in events:
        one, name = (topic, partition), f"{topic}-{partition}"
        if what == "from":
            expected[one] = where
            continue
        if what == "reset":
            verdict.add("reset", f"{name}: at offset {expected.get(one, 0)} a reader was told: {where}")
            continue
        if where != expected.get(one, 0):
            verdict.add("skipped" if where > expected.get(one, 0) else "repeated",
                        f"{name}: a reader got offset {where} where {expected.get(one, 0)} was to come")
        expected[one] = where + 1
        farthest[one] = max(farthest[one], where + 1)
        held = read.get(one, [])
        if where >= len(held):
            verdict.add("vanished", f"{name} offset {where}: a reader saw {value[0]}, and nothing is there in the end")
        elif repr(held[where]) != value[0]:
            verdict.add("changed", f"{name} offset {where}: a reader saw {value[0]}, and in the end there is {held[where]!r}")
    return sum(farthest.values())
