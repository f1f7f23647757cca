#!/usr/bin/env bash
# demo.sh: Outrigger and an unmodified HAProxy on this machine, no cluster: routes, endpoints and certificates change while
# one and the same HAProxy worker goes on serving. Needs nothing running; takes free ports; leaves nothing behind.
#
# OUTRIGGER=PROGRAM: show that one and do not build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
build_outrigger
# shellcheck source=scripts/lib/product.sh
source scripts/lib/product.sh
mkdir "$work/manifests"
read -r echo_1 echo_2 <<<"$(free_ports 2)"

# place NAME: a manifest (stdin) appears by rename, so that the controller never reads half of it
place() { cat >"$work/new"; mv "$work/new" "$work/manifests/$1"; }
# endpoints PORT: the example with another pod in it
endpoints() { sed "s/18081/$1/" examples/laptop/endpoints.yaml; }

# secret ORGANISATION: a new key and certificate for secure.foo.bar
secret() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/O=$1/CN=secure.foo.bar" \
    -addext subjectAltName=DNS:secure.foo.bar -keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null
  cat <<END
apiVersion: v1
kind: Secret
metadata: {name: secure, namespace: demo}
type: kubernetes.io/tls
data:
  tls.crt: $(base64 -w0 "$work/tls.crt")
  tls.key: $(base64 -w0 "$work/tls.key")
END
}

# ingress NAME HOST [SECRET]: a route to the quickstart's Service
ingress() {
  local tls=""
  [ $# -lt 3 ] || tls="tls: [{hosts: [$2], secretName: $3}]"
  cat <<END
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: $1, namespace: demo}
spec:
  $tls
  rules:
    - host: $2
      http:
        paths:
          - {path: /, pathType: Prefix, backend: {service: {name: echo, port: {name: http}}}}
END
}

step "Start two echo servers, and Outrigger with $("$haproxy" -v | sed -n '1s/^\(HAProxy version [^ ]*\).*/\1/p') beside it"
start_echo echo-1 127.0.0.1 "$echo_1"
start_echo echo-2 127.0.0.1 "$echo_2"
start_outrigger --manifests "$work/manifests"
before=$(worker_pid "$work/run/master.sock")
[ -n "$before" ] || fail "the master socket names no worker"
result "HAProxy's worker is process $before"

step "Nothing is configured: HAProxy has no route for foo.bar"
expect foo.bar / 404

step "Ingress, Service and EndpointSlice appear (examples/quickstart)"
for file in service ingress; do place "$file.yaml" <"examples/quickstart/$file.yaml"; done
endpoints "$echo_1" | place endpoints.yaml
expect foo.bar / "200 echo-1"

step "The EndpointSlice changes: another pod serves now"
endpoints "$echo_2" | place endpoints.yaml
expect foo.bar / "200 echo-2"

step "Another Ingress brings a new route"
expect new.foo.bar / 404
ingress new new.foo.bar | place new.yaml
expect new.foo.bar / "200 echo-2"

step "A Secret brings a certificate"
secret "certificate A" | place secret.yaml
ingress secure secure.foo.bar secure | place secure.yaml
expect_certificate secure.foo.bar "certificate A"

step "The Secret is replaced"
secret "certificate B" | place secret.yaml
expect_certificate secure.foo.bar "certificate B"

step "A Service, endpoints, routes and certificates changed without a reload"
after=$(worker_pid "$work/run/master.sock")
result "HAProxy's worker was process $before and is process $after"
[ "$before" = "$after" ] || fail "HAProxy was reloaded"
printf '\nThe demo holds.\n'
