#!/usr/bin/env bash
# parts/helm.sh: helm in $CACHE/tools/bin, built from the Go module proxy (about 4 minutes cold on one core).
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
HELM=3.22.0
bin=$CACHE/tools/bin

# current: whether the helm that lies there is this version. `go install` links in none, so the build says it.
current() { [ "$("$bin/helm" version --template '{{.Version}}' 2>/dev/null)" = "v$HELM" ]; }

mkdir -p "$bin"
# one builder at a time: several checkouts share the cache
exec 9>"$CACHE/tools/helm.lock"; flock 9
if current; then exit 0; fi
command -v go >/dev/null || die "building helm needs Go 1.21 or newer (Debian 12's own is too old)"
say "building helm $HELM"
version=helm.sh/helm/v3/internal/version.version
GOBIN=$bin CGO_ENABLED=0 go install -trimpath -ldflags "-s -w -X $version=v$HELM" "helm.sh/helm/v3/cmd/helm@v$HELM" >&2
current || die "helm in $bin is not version $HELM"
