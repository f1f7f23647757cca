#!/usr/bin/env bash
# deploy.sh [FILE]: writes deploy/outrigger.yaml, all that one `kubectl apply` needs, from the Helm chart and deploy/values.yaml.
# FILE: another place; - for stdout. A test compares the two.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
helm=$CACHE/tools/bin/helm
[ -x "$helm" ] || die "$helm is missing; scripts/parts/helm.sh builds it"
to=${1:-$REPO/deploy/outrigger.yaml}

manifests() {
  cat <<'END'
# Outrigger without Helm: kubectl apply -f deploy/outrigger.yaml
# Generated from charts/outrigger by scripts/deploy.sh; change the chart, not this file.
apiVersion: v1
kind: Namespace
metadata:
  name: outrigger
  labels:
    pod-security.kubernetes.io/enforce: restricted
END
  # no hooks: `helm test` needs Helm. What says that Helm manages an object, or where it comes from, would not be true.
  "$helm" template outrigger "$REPO/charts/outrigger" --namespace outrigger --values "$REPO/deploy/values.yaml" --no-hooks |
    sed -e '/^# Source: /d' -e '/app\.kubernetes\.io\/managed-by: /d' -e '/helm\.sh\/chart: /d'
}

if [ "$to" = - ]; then
  manifests
else
  manifests >"$to.new"
  mv "$to.new" "$to"
fi
