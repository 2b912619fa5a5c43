#!/bin/bash
# Usage: by_hand.sh [--c] PREFIX COMPILER "FILE..." PART...
# Compiles and links a program without CMake, to ./by-hand.
set -euo pipefail
flags=--cxxflags
if [ "$1" = --c ]; then
  flags=--cflags
  shift
fi
config=$1/bin/veeline-config compiler=$2 files=$3
shift 3
libs=()
for part; do
  read -ra more < <("$config" --libs "$part")
  libs+=("${more[@]}")
done
# shellcheck disable=SC2046,SC2086
$compiler $("$config" $flags) $files -o by-hand "${libs[@]}"
