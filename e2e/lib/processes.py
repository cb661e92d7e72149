"""Processes of pods, where the nodes live on this machine."""

import pathlib


def process_of(pod, program):
    """Pid of the program of a pod, or nothing: it does not run, or its node is elsewhere."""
    uid = pod["metadata"]["uid"]
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            cgroup = (folder / "cgroup").read_text()
            if (folder / "comm").read_text().strip() == program and (uid in cgroup or uid.replace("-", "_") in cgroup):
                return int(folder.name)
        except OSError:
            pass  # ended while we looked
    return None
