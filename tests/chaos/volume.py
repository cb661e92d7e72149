"""A file system of its own for a broker, in a file, whose power can be cut: what was not synced is gone then, as the kernel's journal has it.

Source: EXT4_IOC_SHUTDOWN of Linux's ext4 without a flush of its log; the mount lives in this process's own mount namespace.
"""

import fcntl
import os
import pathlib
import struct

from network import run

SHUTDOWN = 0x8004587D
WITHOUT_FLUSH = 2


class Volume:
    def __init__(self, folder, mib):
        self.image, self.path = pathlib.Path(folder) / "disk.img", pathlib.Path(folder) / "disk"
        self.path.mkdir(parents=True)
        with open(self.image, "wb") as image:
            image.truncate(mib << 20)
        run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(self.image))
        self.mount()

    def mount(self):
        run("mount", "-o", "loop", str(self.image), str(self.path))

    def cut_power(self):
        folder = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, SHUTDOWN, struct.pack("I", WITHOUT_FLUSH))
        finally:
            os.close(folder)

    def come_back(self):
        """After whoever used it has ended."""
        run("umount", str(self.path))
        self.mount()

    def close(self):
        run("umount", "-l", str(self.path), check=False)
