#!/usr/bin/env bash
# What bash offers behind `gossamer`: sources the script that the program prints, and calls its function as bash does.
#
# usage: completion_test.sh GOSSAMER
set -uo pipefail

gossamer=$1
source <("$gossamer" completion bash) || exit 1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkdir "$folder/runs"
touch "$folder/my config.toml"
cd "$folder" || exit 1
failures=0

# offered WORD...: sets `offered` to what is offered for the last word, between spaces
offered() {
  COMP_WORDS=(gossamer "$@") COMP_CWORD=$# COMPREPLY=()
  _gossamer
  offered=" ${COMPREPLY[*]-} "
}

# expect OFFER WORD...
expect() {
  local wanted=$1
  shift
  offered "$@"
  if [[ $offered != *" $wanted "* ]]; then
    echo "'gossamer $*' offers '$offered', not '$wanted'" >&2
    failures=$((failures + 1))
  fi
}

# expect_only OFFERS WORD...
expect_only() {
  local wanted=$1
  shift
  offered "$@"
  if [[ $offered != " $wanted " ]]; then
    echo "'gossamer $*' offers '$offered', and should '$wanted'" >&2
    failures=$((failures + 1))
  fi
}

expect_only train tr
expect explain ''
expect --version --v
expect --algorithm train --al
expect_only '--algorithm' simulate --algo
for kind in algorithms:algorithm codecs:codec topologies:topology models:model data:data partitions:partition \
  optimisers:optimiser schedules:schedule networks:network jitters:jitter; do
  expect "${kind%:*}" list ''
  while read -r name; do
    expect "$name" simulate "--${kind#*:}" ''
    expect "$name" explain "${name:0:2}"
  done < <("$gossamer" list "${kind%:*}" | sed -n 's/^\([a-z0-9][^ ]*\) .*/\1/p')
done
while read -r name; do
  expect "$name" reproduce ''
done < <("$gossamer" reproduce --list | sed -n 's/^\([a-z0-9][^ ]*\) .*/\1/p')
expect_only d-psgd train --algorithm = d-p
expect_only d-psgd train --algorithm=d-p
expect_only bits= train --codec uniform : bi
expect_only metropolis train --mixing me
expect_only bash completion b
expect_only 'my config.toml' train --config my
expect_only runs train --out ''
expect_only runs watch ''
expect_only train launch --hosts localhost:2 -- ''
expect d-psgd launch -- train --algorithm ''
expect wan reproduce tang2018 -- --network w
expect wan advise -- --network w
expect_only 'simulate train' sweep --vary 'lr=0.1 0.2' -- ''
expect d-psgd sweep -- simulate --algorithm ''
for command in launch node measure sweep reproduce advise; do
  "$gossamer" "$command" --help | grep -qE '^Usage:.*-- (train|simulate|FLAG)' || {
    echo "the usage of $command lacks what follows --" >&2
    failures=$((failures + 1))
  }
done
expect_only '' train --epochs ''
expect_only '' train -- ''
((failures == 0)) && echo "completion: everything is offered"
exit $((failures > 0))
