#!/bin/bash
# Usage: elsewhere.sh FOLDER COMMAND...
# Runs a command in FOLDER as on another machine: another environment, umask, number of cores, layout of memory, and where that can be
# had another time, host and user. Says which of these it was.
set -euo pipefail
folder=$1
shift
command=(taskset --cpu-list "$(taskset --cpu-list --pid $$ | sed 's/.*[ ,-]//')" setarch --addr-no-randomize "$@")
different=(environment umask cores layout)
if command -v faketime >/dev/null; then
  command=(faketime "2031-05-06 07:08:09" "${command[@]}")
  different+=(time)
fi
if unshare --user --map-root-user --uts true 2>/dev/null; then
  command=(unshare --user --map-root-user --uts sh -c 'hostname elsewhere && exec unshare --user --map-user=1234 "$@"' sh "${command[@]}")
  different+=(host user)
fi
echo "elsewhere: ${different[*]}"
cd "$folder"
umask 077
exec env -i HOME=/nonexistent TMPDIR=/var/tmp TZ=Asia/Tokyo LANG=de_DE.UTF-8 LC_ALL=C PATH=/bin:/usr/bin MALLOC_PERTURB_=85 "${command[@]}"
