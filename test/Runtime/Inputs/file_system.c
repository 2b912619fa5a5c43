/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a program, is a file system with faults. To sync a file or a
 * folder whose path has the text HANG_AT never returns; the file HUNG is made
 * then. For paths with such a text it is an error of the disk
 *
 *   UNREADABLE  to open a file for reading;
 *   BAD_BYTES   to read from a file that is open;
 *   NO_STATUS   to ask whether there is a file;
 *   NO_LIST     to list a folder.
 *
 * Those with the text LONGER seem to be as long as the file LIKE. When a
 * folder is locked, what HELD_BACK names is in it under that name. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int matches(const char *path, const char *variable) {
  const char *text = getenv(variable);
  return text && strstr(path, text) != NULL;
}

static int isOf(int descriptor, const char *variable) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0)
    return 0;
  path[length] = '\0';
  return matches(path, variable);
}

static void mayHang(int descriptor) {
  if (!isOf(descriptor, "HANG_AT"))
    return;
  const char *mark = getenv("HUNG");
  if (mark)
    close(creat(mark, 0666));
  for (;;)
    pause();
}

int fsync(int descriptor) {
  mayHang(descriptor);
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return real(descriptor);
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  int hasMode = (flags & (O_CREAT | O_TMPFILE)) != 0;
  mode_t mode = hasMode ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_ACCMODE) == O_RDONLY && matches(path, "UNREADABLE")) {
    errno = EIO;
    return -1;
  }
  int (*real)(const char *, int, ...) =
      (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  return real(path, flags, mode);
}

#define REAL(name, ...)                                                        \
  ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

/* What `name` returns where the disk is at fault. */
#define FAULTY(isFaulty, failed, name, ...)                                    \
  do {                                                                         \
    if (!(isFaulty))                                                           \
      return REAL(name, __VA_ARGS__);                                          \
    errno = EIO;                                                               \
    return failed;                                                             \
  } while (0)

ssize_t read(int descriptor, void *bytes, size_t size) {
  FAULTY(isOf(descriptor, "BAD_BYTES"), -1, read, descriptor, bytes, size);
}

int stat(const char *path, struct stat *status) {
  FAULTY(matches(path, "NO_STATUS"), -1, stat, path, status);
}

int fstat(int descriptor, struct stat *status) {
  int result = REAL(fstat, descriptor, status);
  struct stat other;
  if (result == 0 && isOf(descriptor, "LONGER") &&
      REAL(stat, getenv("LIKE"), &other) == 0)
    status->st_size = other.st_size;
  return result;
}

DIR *opendir(const char *path) {
  FAULTY(matches(path, "NO_LIST"), NULL, opendir, path);
}

DIR *fdopendir(int descriptor) {
  FAULTY(isOf(descriptor, "NO_LIST"), NULL, fdopendir, descriptor);
}

/* As if another process had written that just before it released the lock. */
int flock(int descriptor, int operation) {
  const char *name = getenv("HELD_BACK");
  if (name) {
    int ignored = renameat(AT_FDCWD, name, descriptor, name);
    (void)ignored;
  }
  return REAL(flock, descriptor, operation);
}
