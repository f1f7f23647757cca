#!/bin/sh
# certificates.sh FOLDER: an authority (ca.crt), and what it signed for the pods (pod.crt, pod.key) and for the ingress
# controller (client.crt, client.key). For trying out: good for 30 days.
set -eu
cd "$1"
new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }

new_key ca
openssl req -x509 -new -key ca.key -subj "/CN=demo authority" -days 30 -out ca.crt

# sign NAME COMMON_NAME EXTENSION
sign() {
  new_key "$1"
  openssl req -new -key "$1.key" -subj "/CN=$2" -out "$1.csr"
  printf '%s\n' "$3" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile "$1.ext" -out "$1.crt" 2>/dev/null
}
sign pod secure.demo.svc subjectAltName=DNS:secure.demo.svc
sign client ingress extendedKeyUsage=clientAuth
