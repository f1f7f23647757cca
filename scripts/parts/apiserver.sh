#!/usr/bin/env bash
# parts/apiserver.sh: a real kube-apiserver, etcd and kubectl in $CACHE/kubebuilder/bin.
#
# kube-apiserver is built from the Go module proxy (about 5 minutes cold on 2 cores), etcd is Debian's, kubectl is the
# machine's own or built from the same module.
#
# KUBEBUILDER_ASSETS=FOLDER: use what lies there, build nothing.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=scripts/lib/kubernetes.sh
source "$REPO/scripts/lib/kubernetes.sh"
PROGRAMS=(kube-apiserver etcd kubectl)
bin=$KUBERNETES_BIN

if [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ "$KUBEBUILDER_ASSETS" != "$bin" ]; then
  lacks=$(missing_in "$KUBEBUILDER_ASSETS" "${PROGRAMS[@]}")
  [ -z "$lacks" ] || die "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS lacks:$lacks"
  exit 0
fi

kubernetes_lock
stamp=$CACHE/kubebuilder/stamp
if [ "$(cat "$stamp" 2>/dev/null)" = "$KUBERNETES" ] && [ -z "$(missing_in "$bin" "${PROGRAMS[@]}")" ]; then exit 0; fi

need_packages etcd-server
ln -sf "$(command -v etcd)" "$bin/etcd"
if kubectl=$(PATH=${PATH//$bin:/} command -v kubectl) && "$kubectl" version --client >/dev/null 2>&1; then
  ln -sf "$kubectl" "$bin/kubectl"
else
  kubernetes kubectl
fi
kubernetes kube-apiserver
echo "$KUBERNETES" >"$stamp"
