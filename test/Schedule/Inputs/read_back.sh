#!/bin/bash
# Usage: read_back.sh COUNT NAME.csv...
# Checks that both/NAME.comms.csv is read as the order of NAME.csv, with messages
# that are right under the rules of NCCL, and that there are COUNT of them.
set -euo pipefail
[ $# = $(($1 + 1)) ] || { echo "there are $(($# - 1)) files, not $1"; exit 1; }
shift
for file; do
  file=$(basename "$file")
  said=$(veeline schedule --schedule "file:both/${file%.csv}.comms.csv" --show summary --verify-communication nccl -o order.out.csv)
  grep -q "messages in cells, right under the rules of nccl" <<<"$said" || { echo "$file: $said"; exit 1; }
  cmp order.out.csv "$file"
done
rm order.out.csv
