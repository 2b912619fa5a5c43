// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every executable of a build with sanitizers begins with; the environment
// (ASAN_OPTIONS, TSAN_OPTIONS) overrides it.
//
// - LLVM's allocators poison what they have not given away. Their inline
//   functions do so in our code; the same functions in libMLIR and libLLVM,
//   which are built without a sanitizer, give it away and leave it poisoned.
// - LLVM gives the thread that links an object a stack for signals, which
//   AddressSanitizer takes for its own and unmaps when the thread ends.
// - A finding ends the process by a signal. Where a test expects an error, the
//   exit code would be one.
// - Of a thread that has ended, glibc frees the thread's variables of loaded
//   libraries later, when it is detached or another one takes its stack.
//   ThreadSanitizer does not see what orders that after the thread's end.
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allow_user_poisoning=0:use_sigaltstack=0:abort_on_error=1";
}

const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
  return "race:_dl_deallocate_tls\n";
}
