#!/bin/bash
# Usage: round_trips.sh SCHEDULE:STAGES:MICROBATCHES:CHUNKS...
# Orders become programs and orders again. The first chunk of a model owes nobody
# a gradient, so its I is left out; after that, nothing changes.
set -euo pipefail
for one; do
  IFS=: read -r name stages microbatches chunks <<<"$one"
  veeline schedule --schedule "$name" --stages "$stages" --microbatches "$microbatches" --chunks-per-stage "$chunks" --show summary \
    -o "$name.csv" -o "$name.json" >/dev/null
  sed 's/0I[0-9]*,//g; s/\b0W/0B/g' "$name.csv" >expected.csv
  for format in csv json; do
    veeline-translate --$format-to-programs "$name.$format" >there.mlir
    veeline-translate --programs-to-csv there.mlir | cmp - expected.csv
    veeline-translate --programs-to-$format there.mlir >again.$format
    veeline-translate --$format-to-programs again.$format | veeline-translate --programs-to-csv | cmp - expected.csv
  done
done
echo "$# orders come back"
