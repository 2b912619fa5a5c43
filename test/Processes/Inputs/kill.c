/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into one rank of a run, kills it at a certain call of its compiled
 * step. KILL_AT=FUNCTION:INDEX:COUNT:DEED is the COUNT-th call of a function of
 * veeline/runtime.h with this index (an op, a channel, a parameter); the deed
 * is the number of a signal, or 0: to sleep for as long as the process lives.
 *
 * Before it dies the rank rests, until every other one has come to where it
 * waits, and what was sent has arrived.
 *
 * The step calls the runtime through slots that the loader fills. This library
 * stands in front of dlopen, and redirects the function's slots in each object
 * that is loaded. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All of the functions take a rank, an index, and no more than four pointers
 * or integers besides; a result is as large as a pointer. */
typedef void *function_type(void *, int32_t, void *, void *, void *, void *);

static char name[64];
static int32_t victim_index;
static int calls_left;
static int deed;
static function_type *original;

static void *stand_in(void *rank, int32_t index, void *a, void *b, void *c,
                      void *d) {
  if (index == victim_index && --calls_left == 0) {
    usleep(400 * 1000);
    if (deed != 0)
      kill(getpid(), deed);
    pause();
  }
  return original(rank, index, a, b, c, d);
}

static void redirect(const struct link_map *map, const ElfW(Rela) * entries,
                     size_t bytes, const ElfW(Sym) * symbols,
                     const char *strings) {
  for (size_t i = 0; i < bytes / sizeof(*entries); ++i) {
    const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(entries[i].r_info)];
    if (strcmp(strings + symbol->st_name, name) != 0)
      continue;
    uintptr_t slot = map->l_addr + entries[i].r_offset;
    uintptr_t page = slot & ~(uintptr_t)(getpagesize() - 1);
    mprotect((void *)page, slot + sizeof(void *) - page,
             PROT_READ | PROT_WRITE);
    *(function_type **)slot = stand_in;
  }
}

static void redirect_all(void *handle) {
  struct link_map *map = NULL;
  dlinfo(handle, RTLD_DI_LINKMAP, &map);
  const ElfW(Sym) *symbols = NULL;
  const char *strings = NULL;
  const ElfW(Rela) * tables[2] = {NULL, NULL};
  size_t bytes[2] = {0, 0};
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB)
      symbols = (const void *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB)
      strings = (const void *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_JMPREL)
      tables[0] = (const void *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ)
      bytes[0] = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA)
      tables[1] = (const void *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ)
      bytes[1] = entry->d_un.d_val;
  }
  for (int i = 0; i < 2; ++i)
    redirect(map, tables[i], bytes[i], symbols, strings);
}

void *dlopen(const char *path, int flags) {
  void *(*real)(const char *, int) =
      (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  void *handle = real(path, flags);
  const char *when = getenv("KILL_AT");
  /* Objects of artifacts have no file of their own; the program itself has no
   * path. */
  if (!handle || !when || !path || strncmp(path, "/proc/self/fd/", 14) != 0)
    return handle;
  if (sscanf(when, "%63[^:]:%d:%d:%d", name, &victim_index, &calls_left,
             &deed) != 4)
    abort();
  original = (function_type *)dlsym(RTLD_DEFAULT, name);
  if (!original)
    abort();
  redirect_all(handle);
  return handle;
}
