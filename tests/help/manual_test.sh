#!/usr/bin/env bash
# Writes the manual pages, one for each command, and lets man and mandoc look for mistakes in them.
#
# usage: manual_test.sh GOSSAMER; 77 where there is neither of the two
set -uo pipefail

gossamer=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$gossamer" man "$folder/man" || exit 1
failures=0
fail() {
  echo "$*" >&2
  failures=$((failures + 1))
}

commands=$("$gossamer" --help | sed -n '/^Flags/q; s/^  \([a-z]\+\)  .*/\1/p')
[[ $commands == *train* ]] || fail "--help lists no commands"
for command in $commands; do
  page=$folder/man/gossamer-$command.1
  [[ -s $page ]] || fail "there is no page of $command"
  for flag in $("$gossamer" "$command" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
    grep -qF -- "\\fB${flag//-/\\-}\\fR" "$page" || fail "the page of $command lacks $flag"
  done
done

checked=
for page in "$folder"/man/*.1; do
  # The pages have no date, so that a build can be repeated to the byte.
  if command -v mandoc >/dev/null; then
    checked=yes
    said=$(mandoc -T lint -W warning "$page" | grep -v 'missing date')
    [[ -z $said ]] || fail "$said"
  fi
  if command -v man >/dev/null && LC_ALL=C.UTF-8 man -l "$page" 2>/dev/null | grep -q NAME; then
    checked=yes
    said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)
    [[ -z $said ]] || fail "$said"
  fi
done
((failures == 0)) || exit 1
[[ $checked ]] || exit 77
echo "manual: no mistakes"
