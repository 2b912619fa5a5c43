// In the place of another version of LLVM.
#define LLVM_VERSION_MAJOR 21
#define LLVM_VERSION_MINOR 1
