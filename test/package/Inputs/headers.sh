#!/bin/bash
# Usage: headers.sh PREFIX COMPILER all|without-mlir
# Compiles a file that includes all public headers, or those that use no MLIR.
set -euo pipefail
export LC_ALL=C # [a-z] has no capitals.
config=$1/bin/veeline-config
include=$("$config" --includedir)
options=()
if [ "$3" = all ]; then
  options=(--mlir)
  headers=$(cd "$include" && find veeline -name "*.h")
else
  headers=$(cd "$include" && find veeline/Base veeline/Library veeline/Schedule veeline/[a-z]*.h -name "*.h")
fi
sort <<<"$headers" | sed 's/.*/#include "&"/' >"headers-$3.cpp"
# shellcheck disable=SC2046
$(command -v ccache) "$2" $("$config" --cxxflags "${options[@]}") -c "headers-$3.cpp" -o "headers-$3.o"
