/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a rank, closes the first connection that it accepts, as a rank
 * that dies does, but lives on: so nobody can learn from the rank's other
 * connections that it is gone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int accept_type(int, struct sockaddr *, socklen_t *);

int accept(int socket, struct sockaddr *address, socklen_t *length) {
  static int has_closed = 0;
  accept_type *original = (accept_type *)dlsym(RTLD_NEXT, "accept");
  int accepted = original(socket, address, length);
  if (accepted < 0 || has_closed)
    return accepted;
  has_closed = 1;
  close(accepted);
  errno = EAGAIN;
  return -1;
}
