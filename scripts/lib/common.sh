# Shared by every script here; to be sourced. Functions only, plus the two folders that all of them use.
# shellcheck shell=bash

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${OUTRIGGER_CACHE:-$HOME/.cache/outrigger}
# The branches that the tests must pass on; parts/haproxy.sh says where each comes from.
# shellcheck disable=SC2034 # used by those who source this
HAPROXY_BRANCHES=(2.2 2.6 3.0 3.2 3.4)

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# wait_for SECONDS COMMAND...: polls until the command succeeds; fails at the deadline.
wait_for() {
  local deadline=$((SECONDS + $1)); shift
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.05
  done
}

# need_packages NAME...: installs what is missing. dpkg is asked first, so that a warm run never touches the network.
need_packages() {
  local name missing=()
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing packages: ${missing[*]}"
  apt-get update -qq >&2
  # etcd-server, containerd and others must not start a daemon on the machine that tests: the policy forbids it meanwhile
  local policy=/usr/sbin/policy-rc.d own="" code=0
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy; chmod 755 $policy; own=1
  fi
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq -o DPkg::Lock::Timeout=120 --no-install-recommends \
    "${missing[@]}" >&2 || code=$?
  [ -z "$own" ] || rm -f $policy
  return $code
}

# need_commands COMMAND=PACKAGE...: for tools that a machine may have from elsewhere than its packages.
need_commands() {
  local pair missing=()
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
  done
  [ ${#missing[@]} -eq 0 ] || need_packages "${missing[@]}"
}

# stop PID...: ends processes that we started (children or not) and waits, so that their ports and sockets are free again.
stop() {
  local pid
  for pid in "$@"; do kill "$pid" 2>/dev/null || true; done
  for pid in "$@"; do
    wait_for 10 gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}
gone() { ! kill -0 "$1" 2>/dev/null; }

# free_ports COUNT: that many free TCP ports, on one line.
free_ports() {
  python3 -c '
import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(s.getsockname()[1] for s in held))' "$1"
}

# timed NAME COMMAND...: runs it and keeps how long it took for print_times.
TIMES=()
timed() {
  local name=$1 start=${EPOCHREALTIME/[.,]/} code=0 took; shift
  "$@" || code=$?
  took=$(((${EPOCHREALTIME/[.,]/} - start) / 100000))
  TIMES+=("$(printf '%-28s %6d.%d s%s' "$name" $((took / 10)) $((took % 10)) "$([ $code -eq 0 ] || echo '  FAILED')")")
  return $code
}
print_times() { say; printf '  %s\n' "${TIMES[@]}" >&2; }

# haproxy_binary BRANCH: its path in either layout of HAPROXY_BINARIES.
haproxy_binary() {
  local folder=${HAPROXY_BINARIES:-$CACHE/haproxy}
  if [ -x "$folder/haproxy-$1" ]; then echo "$folder/haproxy-$1"; else echo "$folder/$1/haproxy"; fi
}

# build_outrigger: sets OUTRIGGER to the program; one given by the caller is taken as it is.
build_outrigger() {
  [ -z "${OUTRIGGER:-}" ] || return 0
  (cd "$REPO" && cargo build --locked)
  OUTRIGGER=${CARGO_TARGET_DIR:-$REPO/target}/debug/outrigger
}

# master SOCKET COMMAND: one command over HAProxy's master CLI, the answer on stdout.
master() { python3 "$REPO/scripts/lib/master_cli.py" "$@" 2>/dev/null; }

# The pids in `show proc`: of the current worker, which is the first that is listed, and of the master.
worker_pid() { master "$1" "show proc" | awk '$2 == "worker" {print $1; exit}'; }
master_pid() { master "$1" "show proc" | awk '$2 == "master" {print $1; exit}'; }
