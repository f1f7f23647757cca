#!/usr/bin/env bash
# parts/haproxy.sh [BRANCH...]: Debian's own, unmodified HAProxy of each branch as $CACHE/haproxy/BRANCH/haproxy.
#
# The package's root folder stays beside it (BRANCH/root). The binary is a copy whose loader and library path point into
# that root, so it runs on this host whatever libc the host has, and the master can re-execute itself at a reload;
# a wrapper script or a chroot would break the latter.
#
# HAPROXY_BINARIES=FOLDER: use what lies there (haproxy-2.2 or 2.2/haproxy, …), build nothing.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
RECIPE=1 # raise when what is built below changes

branches=("$@")
[ ${#branches[@]} -gt 0 ] || branches=("${HAPROXY_BRANCHES[@]}")

if [ -n "${HAPROXY_BINARIES:-}" ] && [ "$HAPROXY_BINARIES" != "$CACHE/haproxy" ]; then
  missing=()
  for branch in "${branches[@]}"; do
    [ -x "$HAPROXY_BINARIES/haproxy-$branch" ] || [ -x "$HAPROXY_BINARIES/$branch/haproxy" ] || missing+=("$branch")
  done
  [ ${#missing[@]} -eq 0 ] || die "HAPROXY_BINARIES=$HAPROXY_BINARIES has no haproxy-BRANCH or BRANCH/haproxy for: ${missing[*]}"
  exit 0
fi

# apt_uri PATTERN: where this machine's own apt takes its Debian packages from; no host name is ever written down here.
apt_uri() {
  # shellcheck disable=SC2016 # apt's own placeholders
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | sort -u | awk -v want="$1" '
    { kind = $2 ~ /-security/ ? "security" : $2 ~ /-(updates|backports)/ ? "other" : "main" }
    kind == want && !n++ { print $1 }'
}

# make_root ROOT SUITE [security|updates|experimental]...
make_root() {
  local root=$1 suite=$2 extra package=haproxy main security lines; shift 2
  local trust="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
  main=$(apt_uri main) security=$(apt_uri security)
  [ -n "$main" ] || die "apt has no Debian source"
  lines=("deb $trust $main $suite main")
  for extra in "$@"; do
    case $extra in
      security) [ -z "$security" ] || lines+=("deb $trust $security $suite-security main") ;;
      updates) lines+=("deb $trust $main $suite-updates main") ;;
      # haproxy alone comes from experimental, the rest from the suite
      experimental) lines+=("deb $trust $main experimental main"); package=haproxy/experimental ;;
    esac
  done
  rm -rf --one-file-system "$root.new"
  # Valid-Until: old suites are frozen. policy-rc.d 101: nothing may start a daemon while the packages configure.
  # shellcheck disable=SC2016 # $1 is mmdebstrap's
  printf '%s\n' "${lines[@]}" | mmdebstrap --quiet --variant=apt --format=directory \
    --aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Check-Valid-Until "false"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --essential-hook='printf "#!/bin/sh\nexit 101\n" >"$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"' \
    --include="$package,socat,openssl,ca-certificates,libcap2-bin" "$suite" "$root.new" - >&2 || return 1
  rm -rf --one-file-system "$root"
  mv "$root.new" "$root"
}

# make_binary ROOT TO: the copy that runs on this host.
make_binary() {
  local root=$1 to=$2 loader
  cp "$root/usr/sbin/haproxy" "$to"
  loader=$(basename "$(patchelf --print-interpreter "$to")")
  # by /lib/TRIPLET: the usual /lib64/… is an absolute link, which would lead out of the root
  loader=$(echo "$root"/lib/*/"$loader")
  [ -x "$loader" ] || die "no loader in $root"
  # DT_RPATH and not DT_RUNPATH: only the former also counts for the libraries of the libraries
  patchelf --set-interpreter "$loader" "$to"
  patchelf --force-rpath --set-rpath "$(dirname "$loader"):$root/usr/lib/$(basename "$(dirname "$loader")")" "$to"
}

answers() { [ "$(curl -sS -m 2 --unix-socket "$1" http://check/ 2>/dev/null)" = "$2" ]; }

# reloaded FOLDER OLD_WORKER: 3.1+ answers "still in progress" while the first worker starts, so it is asked again.
reloaded() {
  local now
  answers "$1/f.sock" two && now=$(worker_pid "$1/master.sock") && [ -n "$now" ] && [ "$now" != "$2" ]
}
reload_until() { reloaded "$@" || { master "$1/master.sock" reload >/dev/null || true; wait_for 2 reloaded "$@"; }; }

# check BINARY: it starts as the pod starts it, and a reload over the master socket brings a new worker that serves.
check() (
  set -euo pipefail
  work=$(mktemp -d) pid=
  trap 'stop $pid; rm -rf "$work"' EXIT
  mkdir "$work/cfg"
  write() {
    # maxconn: never derived from this shell's descriptor limit
    printf '%s\n' global ' maxconn 100' ' log stderr format raw local0' \
      'defaults' ' mode http' ' timeout client 5s' ' timeout server 5s' ' timeout connect 5s' \
      'frontend f' " bind unix@$work/f.sock" " http-request return status 200 content-type text/plain string $1" \
      >"$work/cfg/haproxy.cfg"
  }
  write one
  "$1" -W -db -S "$work/master.sock,mode,660" -f "$work/cfg" >"$work/log" 2>&1 </dev/null 9>&- & pid=$!
  wait_for 10 answers "$work/f.sock" one || { cat "$work/log" >&2; die "$1 does not serve"; }
  before=$(worker_pid "$work/master.sock")
  write two
  wait_for 10 reload_until "$work" "$before" || { cat "$work/log" >&2; die "$1 does not reload over its master socket"; }
)

build() { # BRANCH
  local branch=$1 home=$CACHE/haproxy/$1 root stamp version
  root=$home/root stamp="recipe $RECIPE in $home"
  mkdir -p "$home"
  # one builder at a time: several checkouts share the cache
  exec 9>"$home/lock"; flock 9
  if [ -x "$home/haproxy" ] && [ "$(head -1 "$home/stamp" 2>/dev/null)" = "$stamp" ]; then return; fi
  need_commands mmdebstrap=mmdebstrap patchelf=patchelf curl=curl python3=python3
  need_packages debian-archive-keyring
  say "building HAProxy $branch in $home"
  if [ ! -x "$root/usr/sbin/haproxy" ]; then
    case $branch in
      2.2) make_root "$root" bullseye security updates ;;
      2.6) make_root "$root" bookworm security updates ;;
      3.0) make_root "$root" trixie security updates ;;
      3.2) make_root "$root" forky || make_root "$root" sid ;;
      3.4) make_root "$root" sid experimental ;;
      *) die "no Debian suite is known for HAProxy $branch" ;;
    esac
  fi
  make_binary "$root" "$home/haproxy.new"
  # -vv loads every library; the branch must be what its name says
  version=$("$home/haproxy.new" -vv | awk 'NR == 1 {print $3}')
  [[ $version == "$branch".* ]] || die "the package for HAProxy $branch is version $version; move the branch to another suite"
  check "$home/haproxy.new"
  mv "$home/haproxy.new" "$home/haproxy"
  printf '%s\n%s\n' "$stamp" "$version" >"$home/stamp"
}

for branch in "${branches[@]}"; do build "$branch"; done
