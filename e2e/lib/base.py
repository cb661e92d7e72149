"""Waits with deadlines, short commands, and what a promise says when it does not hold."""

import subprocess
import time


class Broken(Exception):
    """The promise does not hold; its text says what was seen."""


class Skip(Exception):
    """The promise cannot be tried on this Kubernetes; its text says why."""


def wait_for(what, condition, seconds, check=None, every=0.1):
    """The first true value of `condition`. A condition may return (False, "what is seen instead"), for the failure's text;
    `check` may raise to give up early. Returns the value."""
    deadline = time.monotonic() + seconds
    seen = ""
    while True:
        value = condition()
        if isinstance(value, tuple) and len(value) == 2 and not value[0]:
            value, seen = False, value[1]
        if value:
            return value
        if check:
            check()
        if time.monotonic() > deadline:
            raise Broken(f"{what}: not within {seconds} s{f'; seen: {seen}' if seen else ''}")
        time.sleep(every)


def expect(true, what):
    if not true:
        raise Broken(what)


def equal(found, wanted, what):
    expect(found == wanted, f"{what}: found {str(found)[:2000]}, expected {str(wanted)[:2000]}")


def run(command, seconds=60, text=None, env=None, ok=(0,), cwd=None):
    """A command's output (both streams in the failure's text)."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=seconds, check=False, env=env, cwd=cwd)
    except subprocess.TimeoutExpired as expired:
        raise Broken(f"{' '.join(command)[:500]}: not done in {seconds} s: {expired.stderr or ''}") from None
    if ok is not None and done.returncode not in ok:
        raise Broken(f"{' '.join(command)[:500]}: ended with {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
