#!/usr/bin/env bash
# node-up.sh: a whole Kubernetes of one node: etcd, API server, controllers, scheduler, containerd, kubelet, kube-proxy.
#
# LAB: an empty work folder; gets kubeconfig, netns (the name of the network namespace that all of it lives in), audit.log and
# log/*. Everything is reached inside that namespace alone: `nsenter --net=/run/netns/$(cat $LAB/netns) kubectl …`.
# OWNER=PID: the node ends by itself when that process has ended, however it did. node-down.sh ends it in any case.
# IMAGES=no: bring no images but that of the sandbox.
#
# All processes are in a PID and a mount namespace, too: the kernel ends every process and mount with the first one.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
mkdir -p "${LAB:?a work folder}"
LAB=$(realpath "$LAB")
# shellcheck source=scripts/lib/node.sh
source "$REPO/scripts/lib/node.sh"
if [ -e "$LAB/node.pid" ]; then die "$LAB has a node already; end it with LAB=$LAB scripts/cluster/node-down.sh"; fi

fail() {
  local log
  for log in "$LAB"/log/*.log; do
    [ -s "$log" ] || continue
    say "--- the end of $log"
    tail -n 15 "$log" >&2
  done
  "$REPO/scripts/cluster/node-down.sh" || true
  die "$*"
}

for program in kube-apiserver etcd kubectl kube-controller-manager kube-scheduler kubelet kube-proxy containerd runc; do
  node_program "$program" >/dev/null
done
mkdir -p "$LAB/log"
"$REPO/scripts/images.sh" >"$LAB/images"
[ "${IMAGES:-}" != no ] || sed -i '/ localhost\/pause:/!d' "$LAB/images"
"$REPO/scripts/cluster/node-files.sh"

trap 'fail "the node could not be set up"' ERR
echo "$NODE_ID" >"$LAB/netns"
ip netns add "$NODE_ID"
while read -r cgroup; do mkdir -p "$cgroup"; done < <(node_cgroups)
# --kill-child: whoever ends the first process ends all of them
setsid nsenter --net="/run/netns/$NODE_ID" \
  unshare --mount --pid --fork --kill-child --mount-proc "$REPO/scripts/cluster/node-inside.sh" \
  >"$LAB/log/node.log" 2>&1 </dev/null 9>&- &
echo $! >"$LAB/node.pid"
disown

if [ -n "${OWNER:-}" ]; then
  setsid "$REPO/scripts/cluster/node-keeper.sh" "$OWNER" >"$LAB/log/keeper.log" 2>&1 </dev/null 9>&- &
  disown
fi

up_or_gone() { [ -e "$LAB/ready" ] || node_ended "$(cat "$LAB/node.pid")"; }
# generous: the parts have deadlines of their own, and the machine may build something meanwhile
wait_for 600 up_or_gone || fail "the node is not ready after 600 s"
[ -e "$LAB/ready" ] || fail "the node ended while it started"
