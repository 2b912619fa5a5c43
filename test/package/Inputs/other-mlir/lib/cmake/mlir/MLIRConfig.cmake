# In the place of another version of MLIR.
set(LLVM_PACKAGE_VERSION 21.1.3)
