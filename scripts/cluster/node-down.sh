#!/usr/bin/env bash
# node-down.sh: ends what node-up.sh started in LAB, also when it got only half the way. Its logs stay.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
LAB=$(realpath "${LAB:?the work folder of node-up.sh}")
# shellcheck source=scripts/lib/node.sh
source "$REPO/scripts/lib/node.sh"

# With the first process of its PID namespace the kernel ends all others, and with the last one the mounts go.
if [ -f "$LAB/node.pid" ]; then
  pid=$(cat "$LAB/node.pid")
  # only ours: the number may have been given to another process since
  if grep -qs node-inside.sh "/proc/$pid/cmdline"; then
    kill -KILL "$pid"
    wait_for 20 node_ended "$pid" || die "process $pid does not end"
  fi
fi
ip netns del "$NODE_ID" 2>/dev/null || true
# A cgroup can be removed when its last process is gone.
removed() {
  [ ! -d "$1" ] || find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
  [ ! -d "$1" ]
}
while read -r cgroup; do
  wait_for 20 removed "$cgroup" || die "$cgroup cannot be removed; processes: $(tr '\n' ' ' <"$cgroup/cgroup.procs")"
done < <(node_cgroups)
# The logs stay; pods' files and the store are of no more use.
cd "$LAB"
rm -rf --one-file-system containerd containerd.sock* etcd kubelet private cni-addresses apiserver.stop node.pid ready netns
