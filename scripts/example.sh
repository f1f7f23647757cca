#!/usr/bin/env bash
# example.sh: the chart and the quickstart on a real Kubernetes: a node that this script brings up and ends again, or the cluster of
# KUBECONFIG, which needs images that it can pull (docs/images.md) and a node whose address can be reached from here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/parts/env.sh
source scripts/parts/env.sh

STEP=0
step() { STEP=$((STEP + 1)); printf '\n%d. %s\n' "$STEP" "$*"; }
result() { sed 's/^/   /' <<<"$*"; }
fail() { say; die "step $STEP: $*"; }

# inside COMMAND...: where the cluster is reached.
inside() { "$@"; }
end() { :; }
if [ -z "${KUBECONFIG:-}" ]; then
  step "Bring up a node: etcd, API server, controllers, scheduler, containerd, kubelet, kube-proxy"
  LAB=$(mktemp -d /tmp/outrigger-example.XXXXXX)
  export LAB KUBECONFIG=$LAB/kubeconfig
  end() { scripts/cluster/node-down.sh && rm -rf "$LAB"; }
  trap end EXIT
  OWNER=$$ scripts/cluster/node-up.sh
  network=$(cat "$LAB/netns")
  inside() { nsenter --net="/run/netns/$network" "$@"; }
  result "$(inside kubectl get nodes)"
fi

step "kubectl create namespace outrigger, where Pod Security enforces \"restricted\""
inside kubectl create namespace outrigger >/dev/null
inside kubectl label namespace outrigger pod-security.kubernetes.io/enforce=restricted >/dev/null
step "helm install outrigger charts/outrigger --namespace outrigger"
inside helm install outrigger charts/outrigger --namespace outrigger --wait --timeout 5m >/dev/null
result "$(inside kubectl get pods,service,ingressclass --namespace outrigger)"

address=$(inside kubectl get nodes -o 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}')
port=$(inside kubectl get service outrigger --namespace outrigger -o 'jsonpath={.spec.ports[?(@.name=="http")].nodePort}')
ask() { inside curl -s --noproxy '*' -m 3 -o /dev/null -w '%{http_code}' --connect-to "::$address:$port" http://foo.bar/ || true; }
is() { [ "$(ask)" = "$1" ]; }
# expect STATUS: waits for it and says what came.
expect() {
  wait_for 60 is "$1" || fail "http://foo.bar/ answers $(ask) and not $1"
  result "http://foo.bar/ → $1"
}

step "Nobody knows the host yet"
expect 404
step "kubectl apply -f examples/quickstart"
result "$(inside kubectl apply -f examples/quickstart)"
inside kubectl rollout status deployment/echo --namespace demo --timeout 3m >/dev/null
expect 200
result "$(inside curl -s --noproxy '*' -m 3 --connect-to "::$address:$port" http://foo.bar/ | head -n 3)"

step "kubectl apply -f examples/configmap: two settings, while it runs"
result "$(inside kubectl apply -f examples/configmap 2>/dev/null)"
expect 200
result "$(inside kubectl get ingress --namespace demo)"

step "kubectl delete ingress: the route goes"
result "$(inside kubectl delete ingress --namespace demo echo)"
expect 404
if [ -z "${LAB:-}" ]; then
  step "Clean up"
  inside kubectl delete -f examples/quickstart >/dev/null
  inside helm uninstall outrigger --namespace outrigger --wait >/dev/null
  inside kubectl delete namespace outrigger >/dev/null
fi
printf '\nThe example holds.\n'
