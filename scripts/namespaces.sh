#!/usr/bin/env bash
# Hosts that are network namespaces of this machine. They hang on a bridge that has a namespace of its own, so nothing
# of the machine's own network is touched. Hosts that are cut off hang on another bridge, and reach each other there.
#
# usage: namespaces.sh PREFIX HOST,HOST,... FUNCTION ARGUMENTS...
#
# Other scripts source it after they have set `mine` (which begins the names of all namespaces) and the array `hosts`.

inside() { # HOST COMMAND...
  local name=$1
  shift
  ip netns exec "$mine-$name" "$@"
}

address_of() { # NUMBER
  echo "10.77.0.$(($1 + 1))"
}

make_network() {
  ((EUID == 0)) || { echo "only root makes network namespaces" >&2; return 1; }
  ip netns add "$mine-switch" || return 1
  local k name
  for name in bridge apart; do
    ip -n "$mine-switch" link add "$name" type bridge && ip -n "$mine-switch" link set "$name" up || return 1
  done
  for k in "${!hosts[@]}"; do
    name=${hosts[k]}
    ip netns add "$mine-$name" &&
      ip -n "$mine-switch" link add "$name" type veth peer name eth0 netns "$mine-$name" &&
      ip -n "$mine-switch" link set "$name" master bridge up &&
      ip -n "$mine-$name" address add "$(address_of "$k")/24" dev eth0 &&
      ip -n "$mine-$name" link set eth0 up &&
      ip -n "$mine-$name" link set lo up || return 1
  done
}

remove_network() {
  local name
  for name in "${hosts[@]}" switch; do
    ip netns del "$mine-$name" 2> /dev/null || true
  done
}

cut_off() { # HOST...
  move_to apart "$@"
}

heal() { # HOST...
  move_to bridge "$@"
}

# Moves all hosts at once, in one process.
move_to() { # BRIDGE HOST...
  local bridge=$1
  shift
  printf "link set %s master $bridge\n" "$@" | ip -n "$mine-switch" -batch -
}

# Prints a file for `gossamer launch --hosts`.
list_hosts() { # GOSSAMER DIRECTORY
  local k
  for k in "${!hosts[@]}"; do
    printf '[[host]]\nhost = "%s"\naddress = "%s"\nbinary = "%s"\n' "${hosts[k]}" "$(address_of "$k")" "$1"
    printf 'directory = "%s"\nthrough = ["ip", "netns", "exec", "%s", "sh", "-c"]\n\n' "$2" "$mine-${hosts[k]}"
  done
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  (($# >= 3)) || { sed -n '5p' "$0" | cut -c3- >&2; exit 2; }
  mine=$1
  IFS=, read -ra hosts <<< "$2"
  shift 2
  "$@"
fi
