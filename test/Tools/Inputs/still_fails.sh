#!/bin/bash
# Usage: still_fails.sh FILE
# For veeline-reduce: exit code 1 where the file still shows the error.
veeline-opt "$1" --pipe-partition=stages=1 --pipe-differentiate 2>&1 >/dev/null | grep -q "'linalg.reduce' has no derivative rule" && exit 1
exit 0
