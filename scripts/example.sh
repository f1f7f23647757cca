#!/usr/bin/env bash
# example.sh: the quickstart against a real API server. kube-apiserver, etcd, Outrigger and HAProxy run in a network namespace
# of their own, because an EndpointSlice may not hold a loopback address; no kubelet, so an echo server stands for the pods.
#
# OUTRIGGER=PROGRAM: show that one and do not build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/parts/env.sh
source scripts/parts/env.sh

if [ "${1:-}" != inside ]; then
  build_outrigger # before entering, where no registry can be reached
  export OUTRIGGER
  exec scripts/cluster/netns.sh "${BASH_SOURCE[0]}" inside
fi

# shellcheck source=scripts/lib/product.sh
source scripts/lib/product.sh
read -r API_PORT ETCD_PORT ETCD_PEER_PORT <<<"$(free_ports 3)"
export API_PORT ETCD_PORT ETCD_PEER_PORT LAB=$work/lab KUBECONFIG=$work/lab/kubeconfig
trap 'scripts/cluster/apiserver-down.sh; clean_up' EXIT

step "Start etcd and kube-apiserver"
scripts/cluster/apiserver-up.sh
result "$(kubectl version 2>/dev/null | grep Server)"

step "Start Outrigger against it, with HAProxy beside it"
start_outrigger --kubeconfig "$KUBECONFIG"
expect foo.bar / 404

step "kubectl apply -f examples/quickstart"
kubectl apply -f examples/quickstart | sed 's/^/   /'

step "Two pods get ready: an EndpointSlice names them"
start_echo echo 0.0.0.0 5678
kubectl apply -f - <<'END' | sed 's/^/   /'
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: echo-1
  namespace: demo
  labels: {kubernetes.io/service-name: echo}
addressType: IPv4
ports: [{name: http, port: 5678, protocol: TCP}]
endpoints:
  - {addresses: [10.200.0.1], conditions: {ready: true}}
  - {addresses: [10.200.0.2], conditions: {ready: true}}
END
expect foo.bar / "200 echo"

step "kubectl delete ingress: the route goes"
kubectl delete ingress -n demo echo | sed 's/^/   /'
expect foo.bar / 404
printf '\nThe example holds.\n'
