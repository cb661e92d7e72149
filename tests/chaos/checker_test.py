#!/usr/bin/env python3
"""Each fault that the checker is there for, planted; ends with "N passed, N failed"."""

import unittest

from checker import Verdict, check, check_sets

PARTITION = ("orders", 0)


def log(*values):
    return {PARTITION: [value.encode() for value in values]}


def acks(*numbers):
    """By offset."""
    return [("p", "orders", 0, offset, number) for offset, number in numbers]


class Checks(unittest.TestCase):
    def faults(self, acknowledged, read):
        return [kind for kind, found in check(acknowledged, read, {"p", "q"}).faults.items() if found]

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
        self.assertEqual(self.faults([], log("nonsense")), ["unknown"])

    def sets(self, acknowledged, first, second):
        verdict = Verdict()
        read = {("a", 0): [v.encode() for v in first], ("b", 0): [v.encode() for v in second]}
        check_sets(acknowledged, read, [("a", 0), ("b", 0)], verdict)
        return [kind for kind, found in verdict.faults.items() if found]

    def test_sets(self):
        self.assertEqual(self.sets([("s", 0)], ["s 0", "s 1"], ["s 0", "s 1"]), [])
        self.assertEqual(self.sets([("s", 0)], ["s 0", "s 1"], ["s 0"]), ["torn"])
        self.assertEqual(self.sets([("s", 0)], ["s 0"], []), ["lost", "torn"])
        self.assertEqual(self.sets([("s", 0)], [], []), ["lost"])


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)
