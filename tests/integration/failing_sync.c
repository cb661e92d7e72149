/* For LD_PRELOAD: the disk of one log fails as fsyncgate describes it. While the file $FAIL_WHEN exists, what is written to
 * files below $FAIL_BELOW does not arrive, and the next sync of one of them fails with EIO, once: the syncs after it succeed,
 * as a kernel's do that has marked the lost pages clean. $FAIL_WHEN.hit is made when a sync has failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int failed;

static int fails(int fd) {
  const char* when = getenv("FAIL_WHEN");
  const char* below = getenv("FAIL_BELOW");
  char link[64];
  char path[4096];
  if (!when || !below || atomic_load(&failed) || access(when, F_OK) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return strncmp(path, below, strlen(below)) == 0;
}

ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  static ssize_t (*real)(int, const void*, size_t, off_t);
  if (fails(fd)) return (ssize_t)size;
  if (!real) real = (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  return real(fd, from, size, at);
}

ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t at) {
  static ssize_t (*real)(int, const struct iovec*, int, off_t);
  if (fails(fd)) {
    ssize_t size = 0;
    for (int i = 0; i < count; ++i) size += (ssize_t)parts[i].iov_len;
    return size;
  }
  if (!real) real = (ssize_t(*)(int, const struct iovec*, int, off_t))dlsym(RTLD_NEXT, "pwritev");
  return real(fd, parts, count, at);
}

static int fail_once(void) {
  char hit[4096];
  atomic_store(&failed, 1);
  snprintf(hit, sizeof hit, "%s.hit", getenv("FAIL_WHEN"));
  close(open(hit, O_CREAT | O_WRONLY, 0644));
  errno = EIO;
  return -1;
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (fails(fd)) return fail_once();
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  return real(fd);
}

int fsync(int fd) {
  static int (*real)(int);
  if (fails(fd)) return fail_once();
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return real(fd);
}
