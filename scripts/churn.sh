#!/usr/bin/env bash
# Trains while nodes of the run, the leader too, are killed, stopped, sent away and cut off: scripts/soak.py in short.
#
#   scripts/churn.sh NODES SECONDS KILL_EVERY [FLAGS of soak.py] [-- train FLAGS...]
#
# GOSSAMER=FILE is the command; the default is the build of scripts/test.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

(($# >= 3)) || { sed -n '4s/^# *//p' "$0" >&2; exit 2; }
struck=(--nodes "$1" --seconds "$2" --every "$3")
shift 3
# A synchronous job: of asynchronous ones even undisturbed runs differ by more than --tolerance.
[[ " $* " == *" -- "* ]] || set -- "$@" \
  -- train --algorithm all-reduce-sgd --data digits:samples=6000,test=1000 --model mlp:hidden=32 --eval-every 20
exec scripts/soak.py "${GOSSAMER:-build/release/bin/gossamer}" "${struck[@]}" "$@"
