#!/bin/bash
# Usage: for_pytorch.sh FOLDER
# Writes every schedule that a step without others can run, in several sizes, as
# FOLDER/NAME.csv and, with communication, FOLDER/NAME.comms.csv.
set -euo pipefail
cd "$1"
for name in $(veeline schedule --list | grep -oE '^[a-z0-9-]+'); do
  case $name in zb-loop | pipedream*) continue ;; esac
  for size in 2:3 4:8 3:7 5:11; do
    stages=${size%:*} microbatches=${size#*:}
    file=$name-$stages-$microbatches
    search=()
    [ "$name" != auto ] || search=(--time-budget 0.2)
    veeline schedule --schedule "$name" --stages "$stages" --microbatches "$microbatches" --cost F=2,B=3,W=1 --transfer 0.25 \
      "${search[@]}" --show summary -o "$file.csv" -o "$file.comms.csv" >/dev/null
  done
done
mkdir both && mv ./*.comms.csv both
