/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a program, writes to the file SYNC_LOG what it does to files:
 *
 *   write INODE
 *   sync INODE PATH   once it is done
 *   make PATH         a folder; before it is begun, as what follows
 *   name INODE PATH   a file gets its name
 *   delete PATH */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name, ...)                                                        \
  ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

/* One system call, so that lines of threads do not mix. */
static void say(const char *format, ...) {
  static int log = -1;
  if (log < 0)
    log = open(getenv("SYNC_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0666);
  char line[8192];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  if (REAL(write, log, line, (size_t)length) != length)
    abort();
}

static unsigned long inodeOf(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

static void saySynced(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  path[length < 0 ? 0 : length] = '\0';
  say("sync %lu %s\n", inodeOf(descriptor), path);
}

static void sayNamed(const char *from, const char *to) {
  struct stat status;
  if (stat(from, &status) == 0)
    say("name %lu %s\n", (unsigned long)status.st_ino, to);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
  say("write %lu\n", inodeOf(descriptor));
  return REAL(write, descriptor, bytes, size);
}

int fsync(int descriptor) {
  int result = REAL(fsync, descriptor);
  if (result == 0)
    saySynced(descriptor);
  return result;
}

int fdatasync(int descriptor) {
  int result = REAL(fdatasync, descriptor);
  if (result == 0)
    saySynced(descriptor);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  say("make %s\n", path);
  return REAL(mkdir, path, mode);
}

int linkat(int fromFolder, const char *from, int toFolder, const char *to,
           int flags) {
  sayNamed(from, to);
  return REAL(linkat, fromFolder, from, toFolder, to, flags);
}

int rename(const char *from, const char *to) {
  sayNamed(from, to);
  return REAL(rename, from, to);
}

int unlink(const char *path) {
  say("delete %s\n", path);
  return REAL(unlink, path);
}

int remove(const char *path) {
  say("delete %s\n", path);
  return REAL(remove, path);
}
