#!/usr/bin/env bash
# parts/node.sh: what a whole Kubernetes node needs beyond parts/apiserver.sh, and what builds images without a registry.
#
# Debian's containerd, runc and CNI plugins, and from the Go module proxy kube-controller-manager, kube-scheduler, kubelet and
# kube-proxy (about 3 minutes on 2 cores behind kube-apiserver, which has compiled most of it).
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=scripts/lib/kubernetes.sh
source "$REPO/scripts/lib/kubernetes.sh"
PROGRAMS=(kube-controller-manager kube-scheduler kubelet kube-proxy)

# iptables and nftables: kube-proxy and the CNI plugin for host ports; conntrack: kube-proxy forgets UDP flows with it
need_packages containerd runc containernetworking-plugins iptables nftables conntrack iproute2 kmod
# mmdebstrap, file: HAProxy's root folders; musl-tools: ring has C parts, which the static controller needs built against musl
# libcap2-bin: an image of HAProxy whose program has a file capability
need_packages buildah musl-tools libcap2-bin

kubernetes_lock
stamp=$CACHE/kubebuilder/stamp-node
if [ "$(cat "$stamp" 2>/dev/null)" = "$KUBERNETES" ] && [ -z "$(missing_in "$KUBERNETES_BIN" "${PROGRAMS[@]}")" ]; then
  exit 0
fi
kubernetes "${PROGRAMS[@]}"
echo "$KUBERNETES" >"$stamp"
