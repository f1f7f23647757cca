#!/usr/bin/env bash
# parts/all.sh: everything that the tests need, with the seconds that each part took. A warm run takes about a second.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
trap print_times EXIT
parts=$REPO/scripts/parts

timed "tools" "$parts/tools.sh" build
for branch in "${HAPROXY_BRANCHES[@]}"; do timed "HAProxy $branch" "$parts/haproxy.sh" "$branch"; done
timed "kube-apiserver, etcd" "$parts/apiserver.sh"
timed "a Kubernetes node" "$parts/node.sh"
timed "helm" "$parts/helm.sh"
timed "cargo-deny" "$parts/tools.sh" deny
