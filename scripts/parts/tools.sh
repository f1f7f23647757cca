#!/usr/bin/env bash
# parts/tools.sh [build] [deny]: what building needs, and cargo-deny in $CACHE/tools/bin. Without a word: both.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
CARGO_DENY=0.20.2

build() {
  # cc: ring compiles C and assembler
  # systemd-analyze: reads the units of examples/external-mode
  need_commands cc=gcc make=make curl=curl python3=python3 openssl=openssl ip=iproute2 unshare=util-linux systemd-analyze=systemd
  need_packages ca-certificates libc6-dev
  local channel
  channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$REPO/rust-toolchain.toml")
  command -v rustup >/dev/null || die "rustup is missing; Outrigger is built with Rust $channel"
  if [ "$(rustup component list --toolchain "$channel" --installed 2>/dev/null | grep -cE '^(clippy|rustfmt)')" != 2 ]; then
    rustup toolchain install "$channel" --profile minimal --component clippy --component rustfmt >&2
  fi
  # the images hold static programs
  local target
  target=$(uname -m)-unknown-linux-musl
  if ! rustup target list --toolchain "$channel" --installed 2>/dev/null | grep -qx "$target"; then
    rustup target add --toolchain "$channel" "$target" >&2
  fi
}

deny() {
  local binary=$CACHE/tools/bin/cargo-deny
  if [ "$("$binary" --version 2>/dev/null)" = "cargo-deny $CARGO_DENY" ]; then return; fi
  # from the repository, so that its pinned toolchain is the one that builds; unoptimised: it runs for a second
  say "building cargo-deny $CARGO_DENY"
  (cd "$REPO" && cargo install --quiet --locked --debug --root "$CACHE/tools" "cargo-deny@$CARGO_DENY") >&2
}

[ $# -gt 0 ] || set -- build deny
for part in "$@"; do
  case $part in
    build | deny) "$part" ;;
    *) die "unknown part $part" ;;
  esac
done
