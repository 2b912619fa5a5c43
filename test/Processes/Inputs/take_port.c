/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a rank, does what a system does now and then where MASTER_PORT
 * is one of those that it chooses for others, and rank 0 does not listen yet:
 * TAKE_PORT=listen: it chooses this port for the rank to listen at;
 * TAKE_PORT=connect: it chooses it for the rank's end of a connection, the
 * first three times. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef int function_type(int, const struct sockaddr *, socklen_t);

static int is_for(const char *what) {
  const char *taken = getenv("TAKE_PORT");
  return taken && strcmp(taken, what) == 0;
}

static in_port_t master_port(void) {
  return htons((in_port_t)atoi(getenv("MASTER_PORT")));
}

int bind(int socket, const struct sockaddr *address, socklen_t bytes) {
  static int calls = 0;
  function_type *original = (function_type *)dlsym(RTLD_NEXT, "bind");
  struct sockaddr_in place;
  memcpy(&place, address, sizeof(place));
  if (address->sa_family != AF_INET || place.sin_port != 0 ||
      !is_for("listen") || calls++ > 0)
    return original(socket, address, bytes);
  place.sin_port = master_port();
  return original(socket, (const struct sockaddr *)&place, sizeof(place));
}

int connect(int socket, const struct sockaddr *address, socklen_t bytes) {
  static int calls = 0;
  function_type *original = (function_type *)dlsym(RTLD_NEXT, "connect");
  function_type *bind_to = (function_type *)dlsym(RTLD_NEXT, "bind");
  struct sockaddr_in place;
  memcpy(&place, address, sizeof(place));
  /* Fails where rank 0 listens already. */
  if (address->sa_family == AF_INET && place.sin_port == master_port() &&
      is_for("connect") && calls++ < 3)
    bind_to(socket, address, bytes);
  return original(socket, address, bytes);
}
