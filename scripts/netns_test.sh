#!/usr/bin/env bash
# Trains over four hosts that are network namespaces of this machine, whose links are slow and break.
#
# usage: netns_test.sh GOSSAMER [CASE...]
#
# The network is that of namespaces.sh, and is removed at the end. Needs root, `ip netns` and `tc`; elsewhere the script
# says so and ends with status 77.
#
# cases, all of them if none is named:
#   fast      1 Gb/s
#   slow      20 Mb/s
#   healed    a host is cut off for less than the patience: no worker is lost
#   unplugged the same, by the host's own card
#   cut       a host is cut off for longer: its worker is lost, the others go on, and it comes back afterwards
#   one-way   frames of one host to another are dropped: one of the two is lost, the others go on, and it comes back
#             after a while, when the fault is over
#   predicted `gossamer measure` finds the rate of slow links, and `gossamer simulate` the time of runs over them
#   advised   of the algorithms that `gossamer advise` ranks for slow links, the first is faster than the last
set -euo pipefail

hosts=(alpha beta gamma delta)
source "$(dirname "${BASH_SOURCE[0]}")/namespaces.sh"
patience_s=12       # longer than a cut, and shorter than TCP alone would need to notice its end
short_patience_s=3   # shorter than a cut
cut_s=8
most_s=90            # limit of any run
end_s=30             # limit of the end of a run that is interrupted

skip() {
  echo "netns_test.sh: skipped: $1"
  exit 77
}

(($# > 0)) || { sed -n '4p' "$0" | cut -c3- >&2; exit 2; }
gossamer=$(realpath "$1")
shift
cases=("$@")
((${#cases[@]} > 0)) || cases=(fast slow healed unplugged cut one-way predicted advised)

command -v ip > /dev/null && command -v tc > /dev/null || skip "there is no ip or no tc"

work=$(mktemp -d)
mine=gossamer-$$ # begins the names of all namespaces
launched=

clean_up() {
  trap - EXIT INT TERM
  # `timeout` hands the signal on, and kills the command if that does not end it.
  [[ -z $launched ]] || { kill "$launched" && wait "$launched"; } 2> /dev/null || true
  remove_network
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# -- the network ------------------------------------------------------------------------------------------------------

# Sets the rate of the network card of every host, in both directions.
set_rate() { # RATE
  local name
  for name in "${hosts[@]}"; do
    inside "$name" tc qdisc replace dev eth0 root tbf rate "$1" burst 64kb latency 50ms &&
      inside switch tc qdisc replace dev "$name" root tbf rate "$1" burst 64kb latency 50ms || return 1
  done
}

# Sends the frames of one host for the other to a card that does not exist.
drop_one_way() { # FROM, TO'S NUMBER
  ip -n "$mine-$1" neighbour replace "$(address_of "$2")" lladdr 02:00:00:00:00:77 nud permanent dev eth0
}

# -- runs -------------------------------------------------------------------------------------------------------------

# Begins a run in the background. Its output is in CASE.log, its folder is CASE.
begin() { # CASE PATIENCE_S FLAGS...
  local name=$1 patience=$2
  shift 2
  # In the foreground, because `timeout` sends a signal twice otherwise, and a second one does not wait for a good end.
  (cd "$work" && exec timeout --foreground --kill-after "$end_s" "$most_s" "$gossamer" launch --hosts hosts.toml \
    --insecure --patience "$patience" -- train --out "$name" "$@") > "$work/$name.log" 2>&1 &
  launched=$!
}

# Waits until the run has printed a text this number of times.
await() { # CASE WHAT TIMES
  local until=$((SECONDS + most_s))
  until [[ $(grep -c "$2" "$work/$1.log" 2> /dev/null) -ge $3 ]]; do
    kill -0 "$launched" 2> /dev/null && ((SECONDS < until)) || return 0 # `expect` reports failures at the end
    sleep 0.1
  done
}

await_steps() { # CASE
  await "$1" "^epoch" 2
}

# Interrupts the run when it has gone on for some steps.
interrupt() { # CASE
  await "$1" "^epoch" "$(($(grep -c "^epoch" "$work/$1.log") + 5))"
  kill -INT "$launched" 2> /dev/null || true # `expect` reports a run that has ended
}

fail() { # WHAT
  echo "$1" >> "$work/failures"
}

# Waits for the end of the run, and checks conditions in Python: on its exit `status`, its summary `s`, its evaluations
# `e`, its output `log`, and the summary of another run, `beside(WHICH)`.
expect() { # CASE CONDITION...
  local name=$1 status=0
  shift
  wait "$launched" || status=$?
  launched=
  python3 - "$work" "$name" "$status" "$@" << 'PY' || fail "$name could not be checked"
import json
import pathlib
import sys

folder, case, status, *conditions = sys.argv[1:]
run = pathlib.Path(folder) / case
log = run.with_suffix(".log").read_text()


def beside(which: str) -> dict:
    return json.loads((run.with_name(f"{case}-{which}") / "summary.json").read_text())


names = {"status": int(status), "log": log, "s": {}, "e": [], "beside": beside}
if (run / "summary.json").exists():
    names["s"] = json.loads((run / "summary.json").read_text())
    names["e"] = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    names["longest_gap_s"] = max((b["time_s"] - a["time_s"] for a, b in zip(names["e"], names["e"][1:])), default=0)


def holds(condition: str) -> bool:
    try:
        return bool(eval(condition, names))
    except (KeyError, NameError, OSError):  # the summary is missing
        return False


broken = [condition for condition in conditions if not holds(condition)]
figures = {key: names["s"].get(key) for key in ("time_s", "test_accuracy", "wire_bits", "steps_per_worker", "lost")}
print(f"{case}: {'failed' if broken else 'passed'}: {figures}", flush=True)
if run.with_name(f"{case}-predicted").exists() and names["s"]:
    predicted_s = beside("predicted")["time_s"]
    print(f"  predicted {predicted_s:.2f} s, took {names['s']['time_s']:.2f} s: {predicted_s / names['s']['time_s']:.2f}")
if broken:
    print(log + json.dumps(names["s"]))
with open(f"{folder}/failures", "a") as failures:
    for condition in broken:
        print(f"{case}, status {status}: does not hold: {condition}", file=failures)
PY
}

small=(--data "digits:samples=2000,test=500" --model mlp:hidden=32 --lr 0.1)
forever=("${small[@]}" --epochs 1e6 --eval-every 2)

case_fast() {
  begin fast "$patience_s" --algorithm d-psgd "${small[@]}" --epochs 8
  expect fast 'status == 0' 's["lost"] == 0' 's["test_accuracy"] > 0.5' 's["steps_per_worker"] == [125] * 4'
}

case_slow() {
  set_rate 20mbit
  begin slow "$patience_s" --algorithm d-psgd "${small[@]}" --epochs 8 --eval-every 4
  # The run cannot be faster than four cards of 20 Mb/s.
  expect slow 'status == 0' 's["lost"] == 0' 's["test_accuracy"] > 0.5' '2e7 < s["wire_bits"] / s["time_s"] < 8e7'
  set_rate 1gbit
}

# Synchronous workers wait for the worker that is cut off, and go on together.
bear_cut() { # CASE, CUT, HEAL
  begin "$1" "$patience_s" --algorithm d-psgd "${forever[@]}"
  await_steps "$1"
  $2
  sleep "$cut_s"
  $3
  interrupt "$1"
  expect "$1" 'status == 130' 's["end"] == "interrupted"' 's["lost"] == 0' 's["views"] == 0' 's["unfinished"] == 0' \
    "longest_gap_s > $cut_s - 1" 'len(set(s["steps_per_worker"])) == 1' 's["test_accuracy"] > 0.5'
}

case_healed() {
  bear_cut healed "cut_off gamma" "heal gamma"
}

case_unplugged() {
  bear_cut unplugged "inside gamma ip link set eth0 down" "inside gamma ip link set eth0 up"
}

case_cut() {
  local algorithm
  for algorithm in d-psgd ad-psgd; do
    begin "cut-$algorithm" "$short_patience_s" --algorithm "$algorithm" "${forever[@]}"
    await_steps "cut-$algorithm"
    cut_off gamma
    await "cut-$algorithm" "worker 2 is lost; 3 go on" 1
    sleep "$cut_s" # a node comes back however long it was away
    heal gamma
    await "cut-$algorithm" "worker 2 comes back" 1
    interrupt "cut-$algorithm"
    expect "cut-$algorithm" 'status == 130' 's["end"] == "interrupted"' 's["lost"] == 1' 's["returned"] == 1' \
      's["steps_per_worker"][2] < s["steps_per_worker"][0]' 's["test_accuracy"] > 0.5'
  done
}

case_one-way() {
  begin one-way "$short_patience_s" --algorithm d-psgd "${forever[@]}"
  await_steps one-way
  drop_one_way gamma 3
  await one-way "worker [23] is lost; 3 go on" 1
  ip -n "$mine-gamma" neighbour del "$(address_of 3)" dev eth0
  await one-way "worker [23] comes back" 1
  interrupt one-way
  expect one-way 'status == 130' 's["end"] == "interrupted"' 's["lost"] == 1' 's["returned"] == 1' \
    '("worker 2 is lost" in log) + ("worker 3 is lost" in log) == 1' 's["unfinished"] == 0' 's["test_accuracy"] > 0.5'
}

here() { # COMMAND...
  (cd "$work" && "$@" > last.log 2>&1) || { cat "$work/last.log"; fail "$*"; }
}

# Compares a run with its simulation over the measured hosts. Evaluations take no time in simulations, so there are two,
# at the beginning and at the end, and the run lasts some seconds.
compare() { # EPOCHS ALGORITHM FLAGS...
  local epochs=$1 name=$2
  shift
  local job=(--algorithm "$@" "${small[@]}" --epochs "$epochs" --eval-every "$epochs")
  here "$gossamer" simulate --network hosts:file=measured.toml --trace no --out "$name-predicted" "${job[@]}"
  begin "$name" "$patience_s" "${job[@]}"
  # On a busy machine a run takes longer than its network does.
  expect "$name" 'status == 0' 's["wire_bits"] == beside("predicted")["wire_bits"]' \
    's["test_accuracy"] == beside("predicted")["test_accuracy"]' \
    '0.5 < beside("predicted")["time_s"] / s["time_s"] < 1.15'
}

case_predicted() {
  set_rate 20mbit
  here "$gossamer" measure --hosts hosts.toml --insecure -- train "${small[@]}"
  cat "$work/last.log"
  compare 4 d-psgd
  compare 4 all-reduce-sgd
  compare 16 dcd-psgd --codec uniform:bits=8
  set_rate 1gbit
}

# Prints flags of the row of an advice that stands first, or comes to the target last.
advised_flags() { # FIRST|LAST
  python3 - "$work/last.log" "$1" << 'PY'
import re
import sys

rows = [re.split("  +", line) for line in open(sys.argv[1]) if re.match(r"\S.*  +\S", line)]
table = [row for row in rows[1:] if len(row) == 6 and row[2] != "-" and " along " not in row[0]]
name, rate = (table[0] if sys.argv[2] == "first" else max(table, key=lambda row: float(row[2])))[:2]
algorithm, _, codec = name.partition(" with ")
print("--algorithm", algorithm, *(["--codec", codec] if codec else []), "--lr", rate.removesuffix(" (edge)"))
PY
}

case_advised() {
  local job=(--data "digits:samples=2000,test=500" --model mlp:hidden=32 --epochs 16 --eval-every 2) first last
  set_rate 20mbit
  here "$gossamer" measure --hosts hosts.toml --insecure -- train "${job[@]}"
  here "$gossamer" advise --hosts measured.toml -- "${job[@]}"
  cat "$work/last.log"
  read -ra first <<< "$(advised_flags first)"
  read -ra last <<< "$(advised_flags last)"
  begin advised-first "$patience_s" "${job[@]}" "${first[@]}"
  expect advised-first 'status == 0' 's["test_accuracy"] > 0.5'
  begin advised "$patience_s" "${job[@]}" "${last[@]}"
  expect advised 'status == 0' 's["test_accuracy"] > 0.5' '2 * beside("first")["time_s"] < s["time_s"]'
  set_rate 1gbit
}

{ make_network && set_rate 1gbit; } > "$work/setup.log" 2>&1 ||
  skip "namespaces or tc do not work here: $(tail -n 1 "$work/setup.log")"
list_hosts "$gossamer" "$work" > "$work/hosts.toml"
touch "$work/failures"
for one in "${cases[@]}"; do
  declare -F "case_$one" > /dev/null || { echo "netns_test.sh: there is no case $one" >&2; exit 2; }
  "case_$one"
done
sed 's/^/netns_test.sh: error: /' "$work/failures" # once more and last, where a long output still has it
[[ ! -s $work/failures ]]
