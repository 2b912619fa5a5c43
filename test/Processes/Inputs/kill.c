/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into one rank of a run, kills it at a certain call of its compiled
 * step. KILL_AT=FUNCTION:INDEX:COUNT:DEED is the COUNT-th call of a function of
 * veeline/runtime.h with this index (an op, a channel, a parameter); the deed
 * is the number of a signal, or 0: to sleep for as long as the process lives,
 * or less: to compute for so many milliseconds, and go on.
 *
 * Before it dies the rank rests, until every other one has come to where it
 * waits, and what was sent has arrived: until the ranks that its parent has
 * started, and the other threads of its own, hardly run any more, nor wait for
 * a core.
 *
 * The step calls the runtime through slots that the loader fills. This library
 * stands in front of dlopen, and redirects the function's slots in each object
 * that is loaded. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* All of the functions take a rank, an index, and no more than four pointers
 * or integers besides; a result is as large as a pointer. */
typedef void *function_type(void *, int32_t, void *, void *, void *, void *);

static char name[64];
static int32_t victim_index;
static int calls_left;
static int deed;
static function_type *original;

/* How long a thread has run and has waited for a core, in nanoseconds. */
static long long busy_time(const char *process, const char *thread) {
  char path[600];
  long long ran = 0, waited = 0;
  snprintf(path, sizeof(path), "/proc/%s/task/%s/schedstat", process, thread);
  FILE *file = fopen(path, "r");
  if (!file)
    return 0;
  if (fscanf(file, "%lld %lld", &ran, &waited) != 2)
    ran = waited = 0;
  fclose(file);
  return ran + waited;
}

static int is_rank(const char *process) {
  char path[300], comm[32] = "";
  int parent = 0;
  snprintf(path, sizeof(path), "/proc/%s/stat", process);
  FILE *file = fopen(path, "r");
  if (!file)
    return 0;
  int found = fscanf(file, "%*d (%31[^)]) %*c %d", comm, &parent);
  fclose(file);
  return found == 2 && parent == getppid() && strcmp(comm, "veeline") == 0;
}

/* Of all threads of the process but this one. */
static long long busy_time_of(const char *process) {
  char path[300];
  long long sum = 0;
  snprintf(path, sizeof(path), "/proc/%s/task", process);
  DIR *threads = opendir(path);
  for (struct dirent *thread; threads && (thread = readdir(threads));)
    if (atoi(thread->d_name) > 0 && atoi(thread->d_name) != gettid())
      sum += busy_time(process, thread->d_name);
  if (threads)
    closedir(threads);
  return sum;
}

static long long busy_time_of_ranks(void) {
  long long sum = 0;
  DIR *processes = opendir("/proc");
  for (struct dirent *process; processes && (process = readdir(processes));)
    if (atoi(process->d_name) > 0 && is_rank(process->d_name))
      sum += busy_time_of(process->d_name);
  if (processes)
    closedir(processes);
  return sum;
}

/* By MPI ranks look now and then while they wait. On a busy machine they wait
 * for a core each time, so a second has to be enough. */
static void rest(void) {
  enum { window_us = 100 * 1000, enough = 2 };
  long long limit = (long long)window_us * 1000 / 5;
  int max_windows = getenv("OMPI_COMM_WORLD_SIZE") ? 10 : 40;
  int quiet = 0;
  for (int i = 0; i < max_windows && quiet < enough; ++i) {
    long long before = busy_time_of_ranks();
    usleep(window_us);
    quiet = busy_time_of_ranks() - before < limit ? quiet + 1 : 0;
  }
}

static void compute(int milliseconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000L +
             (now.tv_nsec - begin.tv_nsec) / 1000000 <
         milliseconds);
}

static void *stand_in(void *rank, int32_t index, void *a, void *b, void *c,
                      void *d) {
  if (index == victim_index && --calls_left == 0 && deed < 0) {
    compute(-deed);
  } else if (index == victim_index && calls_left == 0) {
    rest();
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
