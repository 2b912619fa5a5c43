#!/bin/sh
# Stands for the programs of a CUDA toolkit, of which it has a version alone.
case "$1" in
  --version) echo "release 13.0, V13.0.0" ;;
  *) echo "$0: stands for a CUDA toolkit's program, and assembles nothing" >&2
     exit 1 ;;
esac
