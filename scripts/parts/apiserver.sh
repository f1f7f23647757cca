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
KUBERNETES=1.34.4
PROGRAMS=(kube-apiserver etcd kubectl)
bin=$CACHE/kubebuilder/bin

missing_in() { local p; for p in "${PROGRAMS[@]}"; do [ -x "$1/$p" ] || printf ' %s' "$p"; done; }

if [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ "$KUBEBUILDER_ASSETS" != "$bin" ]; then
  lacks=$(missing_in "$KUBEBUILDER_ASSETS")
  [ -z "$lacks" ] || die "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS lacks:$lacks"
  exit 0
fi

mkdir -p "$bin"
exec 9>"$CACHE/kubebuilder/lock"; flock 9
stamp=$CACHE/kubebuilder/stamp
if [ "$(cat "$stamp" 2>/dev/null)" = "$KUBERNETES" ] && [ -z "$(missing_in "$bin")" ]; then exit 0; fi

# kubernetes NAME: builds cmd/NAME of the release. k8s.io/kubernetes cannot simply be `go install`ed: its go.mod replaces
# the staging modules by folders, which must become the releases of the same version.
kubernetes() {
  command -v go >/dev/null || die "building $1 needs Go 1.21 or newer (Debian 12's own is too old)"
  local work source flags package minor=${KUBERNETES#1.}
  work=$(mktemp -d)
  (
    cd "$work"
    export GOFLAGS=-mod=mod CGO_ENABLED=0
    printf 'module build\ngo 1.24.0\nrequire k8s.io/kubernetes v%s\n' "$KUBERNETES" >go.mod
    source=$(go mod download -json "k8s.io/kubernetes@v$KUBERNETES" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p')
    awk '/k8s.io\/.* => .\/staging/ {print $1}' "$source/go.mod" | while read -r module; do
      echo "replace $module => $module v0.$minor"
    done >>go.mod
    # without a version linked in, the server says v0.0.0 and clients refuse it
    flags="-s -w"
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
      flags+=" -X $package.gitVersion=v$KUBERNETES -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=clean"
    done
    go build -trimpath -ldflags "$flags" -o "$bin/$1" "k8s.io/kubernetes/cmd/$1"
  )
  rm -rf "$work"
}

need_packages etcd-server
ln -sf "$(command -v etcd)" "$bin/etcd"
if kubectl=$(PATH=${PATH//$bin:/} command -v kubectl) && "$kubectl" version --client >/dev/null 2>&1; then
  ln -sf "$kubectl" "$bin/kubectl"
else
  kubernetes kubectl
fi
say "building kube-apiserver $KUBERNETES"
kubernetes kube-apiserver
echo "$KUBERNETES" >"$stamp"
