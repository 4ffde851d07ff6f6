#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# namespaces.sh GPU-TUNE: a run and three hosts, each in a network namespace of its own with no file in
# common but the program. One host compiles; the one that measures is taken away without a message
# on its link; the run finds out by itself, and goes on with the host that comes then. Needs root.
set -euo pipefail

tune=$(command -v "$1")
id=tune$$
folder=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  for name in run compiles measures later; do ip netns delete "$id-$name" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap finish EXIT

# connect NAME NUMBER: a host with a link to the run's.
connect() {
  ip netns add "$id-$1"
  ip -n "$id-$1" link add name up0 type veth peer name "$1" netns "$id-run"
  ip -n "$id-$1" address add "10.77.$2.2/24" dev up0
  ip -n "$id-$1" link set up0 up
  ip -n "$id-run" address add "10.77.$2.1/24" dev "$1"
  ip -n "$id-run" link set "$1" up
}
ip netns add "$id-run"
ip -n "$id-run" link set lo up
connect compiles 1
connect measures 2
connect later 3

# wait_for SECONDS WHAT COMMAND...
wait_for() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    if ((SECONDS >= end)); then
      echo "$what did not come in time" >&2
      cat "$folder"/*.log >&2
      exit 1
    fi
    sleep 0.1
  done
}
count() { python3 - "$folder/a.db" "$1" <<'PY'
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])
PY
}
has_records() { (($(count 'SELECT count(*) FROM records' 2>/dev/null || echo 0) >= $1)); }

# Sets `pid`.
start() { # NAMESPACE LOG COMMAND...
  local space=$1 log=$2
  shift 2
  ip netns exec "$id-$space" "$@" >"$folder/$log.log" 2>&1 &
  pid=$!
  pids+=("$pid")
}
(umask 077 && echo "$id 0123456789abcdefghij" >"$folder/key")
start run run "$tune" run 64x64x64:f32 --target=cpu --trials=40 --leaders=2 --jobs=0 --devices=none \
  --listen='*' --key-file="$folder/key" --db="$folder/a.db" --timeout=600
run=$pid
wait_for 600 "the addresses" grep -q '^other hosts join with' "$folder/run.log"
# They use the addresses that are printed, and have the key.
words=$(sed -n 's/^other hosts join with: gpu-tune join \([^ ]*\) .*/\1/p' "$folder/run.log")
export TESSERA_TUNE_KEY; TESSERA_TUNE_KEY=$(cat "$folder/key")
# shellcheck disable=SC2086
start measures measures "$tune" join $words --jobs=0 --measurers=1
gone=$pid
# shellcheck disable=SC2086
start compiles compiles "$tune" join $words --jobs=1 --devices=none
wait_for 600 "records" has_records 5

# No FIN and no RST gets through.
ip -n "$id-measures" link set up0 down
kill -9 "$gone"
before=$SECONDS
echo "the host vanished $(count 'SELECT count(*) FROM records') records in"
wait_for 600 "the warning" grep -q 'disconnected' "$folder/run.log"
echo "reported after $((SECONDS - before)) s: $(grep 'disconnected' "$folder/run.log")"
# shellcheck disable=SC2086
start later later "$tune" join $words --jobs=0 --measurers=1

if ! wait "$run"; then
  cat "$folder"/*.log >&2
  exit 1
fi
echo "records: $(count 'SELECT count(*) FROM records WHERE NOT final') of the search," \
  "$(count 'SELECT count(DISTINCT schedule) FROM records WHERE NOT final') schedules," \
  "$(count "SELECT count(*) FROM records WHERE outcome NOT IN ('measured', 'slow')") without a time"
