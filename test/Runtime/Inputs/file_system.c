/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a program, is a file system with faults. To sync a file or a
 * folder whose path has the text HANG_AT never returns; the file HUNG is made
 * then. To open a file whose path has the text UNREADABLE for reading is an
 * error. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int matches(const char *path, const char *variable) {
  const char *text = getenv(variable);
  return text && strstr(path, text) != NULL;
}

static void mayHang(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0)
    return;
  path[length] = '\0';
  if (!matches(path, "HANG_AT"))
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
