# Shared by node-up.sh, node-inside.sh and node-down.sh; to be sourced after common.sh. LAB is the work folder.
# shellcheck shell=bash

LAB=${LAB:?a work folder}
# The name of the network namespace and of the cgroup: several nodes on one machine must not meet.
NODE_ID=outrigger-$(printf %s "$LAB" | sha256sum | cut -c1-8)
# shellcheck disable=SC2034 # used by those who source this
NODE_IP=10.201.0.1 NODE_NAME=node POD_NETWORK=10.244.0.0/16 SERVICE_NETWORK=10.96.0.0/16

# node_program NAME: its path, of the machine's own programs or of those in the cache.
node_program() {
  local folder
  for folder in "${KUBEBUILDER_ASSETS:-}" "$CACHE/kubebuilder/bin"; do
    if [ -n "$folder" ] && [ -x "$folder/$1" ]; then echo "$folder/$1"; return; fi
  done
  command -v "$1" || die "$1 is missing; run scripts/parts/all.sh"
}

# node_cgroups: the node's cgroup in each hierarchy (version 1 has one per controller, and often version 2 beside them).
node_cgroups() {
  local hierarchy
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then echo "/sys/fs/cgroup/$NODE_ID"; return; fi
  while read -r hierarchy; do echo "$hierarchy/$NODE_ID"; done < <(awk '$3 ~ /^cgroup2?$/ {print $2}' /proc/mounts)
}

# node_ended PID: gone, or a zombie that nobody has waited for: its parent may be a process 1 that never does.
node_ended() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
