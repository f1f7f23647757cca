#!/usr/bin/env bash
# apiserver-up.sh: etcd and kube-apiserver on loopback, without kubelet or controllers. Enough for all that runs no pods.
#
# LAB: a work folder; gets kubeconfig, logs, etcd.pid and apiserver.pid (apiserver-down.sh ends them).
# API_PORT, ETCD_PORT, ETCD_PEER_PORT: free ports.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
LAB=${LAB:?a work folder} API_PORT=${API_PORT:-6443} ETCD_PORT=${ETCD_PORT:-2379} ETCD_PEER_PORT=${ETCD_PEER_PORT:-2380}
bin=${KUBEBUILDER_ASSETS:-$CACHE/kubebuilder/bin}
etcd=http://127.0.0.1:$ETCD_PORT peer=http://127.0.0.1:$ETCD_PEER_PORT
mkdir -p "$LAB/pki"
cd "$LAB"

[ -f pki/sa.key ] || openssl genrsa -out pki/sa.key 2048 2>/dev/null
openssl rsa -in pki/sa.key -pubout -out pki/sa.pub 2>/dev/null
echo 'admintoken,admin,admin,"system:masters"' >pki/tokens.csv
cat >kubeconfig <<END
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://127.0.0.1:$API_PORT", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: admintoken}}]
contexts: [{name: lab, context: {cluster: lab, user: admin}}]
current-context: lab
END

# no fsync: nothing here outlives a crash of the machine
"$bin/etcd" --data-dir etcd --unsafe-no-fsync --quota-backend-bytes 8589934592 \
  --listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
  --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" \
  >etcd.log 2>&1 </dev/null &
echo $! >etcd.pid
wait_for 20 curl -sf --noproxy '*' -m 2 -o /dev/null "$etcd/health" || { tail -20 etcd.log >&2; die "etcd does not start"; }

# no admission of service accounts: no controller is there to create them
"$bin/kube-apiserver" --etcd-servers "$etcd" --secure-port "$API_PORT" \
  --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --cert-dir pki \
  --service-account-issuer https://kubernetes.default.svc --service-account-key-file pki/sa.pub \
  --service-account-signing-key-file pki/sa.key --authorization-mode RBAC,Node --token-auth-file pki/tokens.csv \
  --service-cluster-ip-range 10.96.0.0/16 --disable-admission-plugins ServiceAccount --allow-privileged \
  --max-requests-inflight 2000 --max-mutating-requests-inflight 1000 >apiserver.log 2>&1 </dev/null &
echo $! >apiserver.pid
ready() { curl -skf --noproxy '*' -m 2 -o /dev/null -H 'Authorization: Bearer admintoken' "https://127.0.0.1:$API_PORT/readyz"; }
wait_for 60 ready || { tail -20 apiserver.log >&2; die "kube-apiserver does not start"; }
