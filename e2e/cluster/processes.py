"""Programs that outlive the command which started them: started in a session of their own, noted by pid and start time in
NAME.pid beside their log, ended by exactly that."""

import os
import pathlib
import signal
import subprocess
import time


def wait_for(what, condition, seconds, check=None):
    """The first true value of `condition`. `check` may raise to give up early."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if check:
            check()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def run(command, **more):
    """A short command that must succeed; its output, or an exception with it."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=more.pop("timeout", 60), check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def start_time(pid):
    """In ticks since boot: with it a pid is not mistaken for a later process. None when there is no such process."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else fields[19]


def read_pid(folder, name):
    """The pid, when the process that was started is still there."""
    try:
        pid, started = (folder / f"{name}.pid").read_text().split()
    except (FileNotFoundError, ValueError):
        return None
    return int(pid) if start_time(pid) == started else None


def start(folder, name, command, namespace=None, cgroup=(), env=None):
    """`namespace`: run in the network of that namespace, but with the mounts of the machine (`ip netns exec` would give it
    mounts of its own). `cgroup`: folders whose cgroup.procs the process joins first."""
    command = [str(part) for part in command]
    if cgroup:
        join = "for g; do [ \"$g\" != -- ] || { shift; break; }; echo $$ > \"$g/cgroup.procs\" || exit 1; shift; done; exec \"$@\""
        command = ["/bin/sh", "-c", join, "sh", *map(str, cgroup), "--", *command]
    if namespace:
        command = ["nsenter", f"--net=/run/netns/{namespace}", *command]
    with open(folder / f"{name}.log", "ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                   cwd=folder, env={**os.environ, **(env or {})})
    (folder / f"{name}.pid").write_text(f"{process.pid} {start_time(process.pid)}\n")


def fail_if_ended(folder, name):
    """For wait_for's `check`."""
    if read_pid(folder, name) is None:
        raise RuntimeError(f"{name} ended by itself:\n{tail(folder / f'{name}.log')}")


def stop(folder, name, number=signal.SIGTERM, seconds=10):
    """Ends it, by SIGKILL when it takes longer than `seconds`."""
    pid = read_pid(folder, name)
    if pid is not None:
        try:
            os.kill(pid, number)
            wait_for(f"end of {name}", lambda: read_pid(folder, name) is None, seconds)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            wait_for(f"end of {name}", lambda: read_pid(folder, name) is None, 10)
        except ProcessLookupError:
            pass
    (folder / f"{name}.pid").unlink(missing_ok=True)


def running(folder):
    """Names of the processes of a folder that are still there."""
    return [path.stem for path in sorted(folder.glob("*.pid")) if read_pid(folder, path.stem)]


def tail(path, lines=20):
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""
