# Kubernetes programs from the Go module proxy, in $CACHE/kubebuilder/bin; to be sourced after common.sh.
# shellcheck shell=bash

KUBERNETES=1.34.4
KUBERNETES_BIN=$CACHE/kubebuilder/bin

# kubernetes_lock: one builder at a time, since several checkouts share the cache.
kubernetes_lock() { mkdir -p "$KUBERNETES_BIN"; exec 9>"$CACHE/kubebuilder/lock"; flock 9; }

# missing_in FOLDER PROGRAM...: those that are not there.
missing_in() { local folder=$1 p; shift; for p in "$@"; do [ -x "$folder/$p" ] || printf ' %s' "$p"; done; }

# kubernetes PROGRAM...: builds cmd/PROGRAM of the release. k8s.io/kubernetes cannot simply be `go install`ed: its go.mod
# replaces the staging modules by folders, which must become the releases of the same version.
kubernetes() {
  command -v go >/dev/null || die "building $* needs Go 1.21 or newer (Debian 12's own is too old)"
  local work
  work=$(mktemp -d)
  # not in a condition: there, set -e would not count inside
  (
    set -e
    cd "$work" || exit
    export GOFLAGS="-mod=mod ${GOFLAGS:-}" CGO_ENABLED=0
    local source flags package program minor=${KUBERNETES#1.}
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
    for program in "$@"; do
      say "building $program $KUBERNETES"
      go build -trimpath -ldflags "$flags" -o "$KUBERNETES_BIN/$program" "k8s.io/kubernetes/cmd/$program"
    done
  )
  rm -rf "$work"
}
