#!/usr/bin/env python3
"""Each fault that the checker is there for, planted; ends with "N passed, N failed"."""

import collections
import unittest

import schedule
from checker import Verdict, check, check_reads, check_sets

PARTITION = ("orders", 0)


def log(*values):
    return {PARTITION: [value.encode() for value in values]}


def acks(*numbers):
    """By offset."""
    return [("p", "orders", 0, offset, number) for offset, number in numbers]


class Checks(unittest.TestCase):
    def faults(self, acknowledged, read):
        return [kind for kind, found in check(acknowledged, read, {"p": 10, "q": 10}).faults.items() if found]

    def test_what_is_there_once_and_in_order_is_clean(self):
        self.assertEqual(self.faults(acks((0, 0), (2, 1)), log("p 0", "q 0", "p 1")), [])

    def test_what_was_not_acknowledged_may_be_there(self):
        self.assertEqual(self.faults(acks((0, 0)), log("p 0", "p 1")), [])

    def test_a_lost_one(self):
        self.assertEqual(self.faults(acks((0, 0), (1, 1)), log("p 0")), ["lost"])

    def test_one_at_another_offset_is_lost_at_its_own(self):
        self.assertEqual(self.faults(acks((1, 0)), log("p 0")), ["lost"])

    def test_one_twice(self):
        self.assertEqual(self.faults(acks((0, 0)), log("p 0", "p 0")), ["duplicated"])

    def test_two_in_the_wrong_order(self):
        self.assertEqual(self.faults([], log("p 1", "p 0")), ["reordered"])

    def test_what_nobody_sent(self):
        self.assertEqual(self.faults([], log("x 1")), ["unknown"])
        for value in ("nonsense", "", "p", "p x", "p 10", "p 1 2", "p \u00b2", " 1"):
            self.assertEqual(self.faults([], log(value)), ["unknown"], value)
        self.assertEqual(self.faults([], {PARTITION: [None]}), ["unknown"])

    def sets(self, acknowledged, first, second, refused=()):
        verdict = Verdict()
        read = {("a", 0): [v.encode() for v in first], ("b", 0): [v.encode() for v in second]}
        check_sets(acknowledged, refused, read, [("a", 0), ("b", 0)], {"s": 10}, verdict)
        return [kind for kind, found in verdict.faults.items() if found]

    def test_sets(self):
        self.assertEqual(self.sets([("s", 0)], ["s 0", "s 1"], ["s 0", "s 1"]), [])
        self.assertEqual(self.sets([("s", 0)], ["s 0", "s 1"], ["s 0"]), ["torn"])
        self.assertEqual(self.sets([("s", 0)], ["s 0"], []), ["lost", "torn"])
        self.assertEqual(self.sets([("s", 0)], [], []), ["lost"])
        self.assertEqual(self.sets([], ["s 0", "s 0"], ["s 0", "s 0"]), ["duplicated"])
        self.assertEqual(self.sets([], ["s 1", "s 0"], ["s 1", "s 0"]), ["reordered"])
        self.assertEqual(self.sets([], ["s 0", "x 1"], ["s 0", "x 1"]), ["unknown"])
        self.assertEqual(self.sets([], ["s 0", "garbage"], ["s 0", "rubbish"]), ["unknown"])

    def test_refused_sets(self):
        self.assertEqual(self.sets([("s", 1)], ["s 1"], ["s 1"], refused=[("s", 0)]), [])
        self.assertEqual(self.sets([], ["s 0"], ["s 0"], refused=[("s", 0)]), ["refused"])
        self.assertEqual(self.sets([], [], ["s 0"], refused=[("s", 0)]), ["torn", "refused"])

    def reads(self, *events):
        """`events`: an offset where the reader placed itself, (offset, value) that it read, or words of a reset."""
        verdict, lines = Verdict(), []
        for one in events:
            what = "from" if isinstance(one, int) else "reset" if isinstance(one, str) else "read"
            lines.append((what, *PARTITION, one[0], repr(one[1])) if what == "read" else (what, *PARTITION, one))
        seen = check_reads(lines, log("p 0", "p 1", "q 0"), verdict)
        return [kind for kind, found in verdict.faults.items() if found], seen

    def test_a_reader_that_saw_what_is_there_in_its_order(self):
        self.assertEqual(self.reads(0, (0, b"p 0"), (1, b"p 1"), 1, (1, b"p 1"), (2, b"q 0")), ([], 3))

    def test_a_reader_that_saw_another_value(self):
        self.assertEqual(self.reads(0, (0, b"p 0"), (1, b"q 0"), 1, (1, b"p 1")), (["changed"], 2))
        self.assertEqual(self.reads(0, (0, None)), (["changed"], 1))

    def test_a_reader_that_saw_what_is_gone(self):
        self.assertEqual(self.reads(2, (2, b"q 0"), (3, b"q 1")), (["vanished"], 4))

    def test_a_reader_that_was_moved(self):
        self.assertEqual(self.reads(0, (1, b"p 1"), (2, b"q 0")), (["skipped"], 3))
        self.assertEqual(self.reads(1, (1, b"p 1"), (1, b"p 1"), (2, b"q 0")), (["repeated"], 3))
        self.assertEqual(self.reads(2, (0, b"p 0")), (["repeated"], 1))
        self.assertEqual(self.reads(0, (0, b"p 0"), "offset out of range"), (["reset"], 1))


class Schedules(unittest.TestCase):
    def test_one_seed_gives_one_schedule(self):
        drawn = [[(f.at, f.kind, f.victim, f.seconds) for f in schedule.draw(seed, 600, 3)] for seed in (5, 5, 6)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])

    def test_a_full_run_draws_what_it_has_to_carry_out(self):
        for seed in range(1, 50):
            drawn = collections.Counter(f.kind for f in schedule.draw(seed, 600, 3))
            self.assertEqual(schedule.missing(drawn, 600), [], seed)

    def test_what_a_full_run_lacks_is_named_and_a_short_one_lacks_nothing(self):
        self.assertTrue(schedule.missing({"kill": 19, "pause": 20, "power_cut": 6, "power_cut_of_all": 4}, 600))
        self.assertEqual(schedule.missing({}, 60), [])


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)
