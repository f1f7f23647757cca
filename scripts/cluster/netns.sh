#!/usr/bin/env bash
# netns.sh COMMAND...: runs it in a network namespace of its own, which ends with it.
#
# 10.200.0.0/16 is local there (AnyIP): one echo server on 0.0.0.0 answers for 65,000 "pod" addresses. The API server
# refuses loopback addresses in an EndpointSlice, so this is how to have endpoints without pods.
set -euo pipefail
exec unshare --net -- bash -euc '
  ip link set lo up
  ip route add local 10.200.0.0/16 dev lo
  sysctl -qw net.ipv4.ip_local_port_range="10000 65000" net.core.somaxconn=4096
  exec "$@"' netns "$@"
