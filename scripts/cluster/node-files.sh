#!/usr/bin/env bash
# node-files.sh: keys, kubeconfigs and configuration files of the node in LAB. node-up.sh calls it.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=scripts/lib/node.sh
source "$REPO/scripts/lib/node.sh"
umask 077
mkdir -p "$LAB"/{pki,kubeconfigs,cni,pod-logs}
cd "$LAB"

# A CA, so that pods verify the API server; a client certificate by which kubelet knows the API server (logs, exec).
if [ ! -f pki/ca.crt ]; then
  {
    openssl genrsa -out pki/sa.key 2048
    openssl rsa -in pki/sa.key -pubout -out pki/sa.pub
    openssl req -x509 -newkey rsa:2048 -nodes -keyout pki/ca.key -out pki/ca.crt -days 30 -subj /CN=lab-ca
    signed() { # NAME SUBJECT EXTENSION
      openssl req -newkey rsa:2048 -nodes -keyout "pki/$1.key" -out "pki/$1.csr" -subj "$2"
      openssl x509 -req -in "pki/$1.csr" -CA pki/ca.crt -CAkey pki/ca.key -CAcreateserial -days 30 \
        -extfile <(echo "$3") -out "pki/$1.crt"
    }
    names=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:api.outrigger.test
    signed api /CN=kube-apiserver "subjectAltName=IP:$NODE_IP,IP:127.0.0.1,IP:${SERVICE_NETWORK%.*}.1,$names"
    signed kubelet-client /O=system:masters/CN=apiserver-kubelet-client extendedKeyUsage=clientAuth
  } 2>/dev/null
fi

# Each part is who it is in a real cluster; the API server's default roles say what it may.
token() { printf '%s' "$1 $LAB $RANDOM$RANDOM" | sha256sum | cut -c1-40; }
: >pki/tokens.csv
account() { # FILE USER [GROUP]
  local secret
  secret=$(token "$1")
  echo "$secret,$2,$2${3:+,\"$3\"}" >>pki/tokens.csv
  cat >"$1" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://$NODE_IP:6443", certificate-authority: $LAB/pki/ca.crt}}]
users: [{name: me, user: {token: $secret}}]
contexts: [{name: lab, context: {cluster: lab, user: me}}]
current-context: lab
YAML
}
account kubeconfig admin system:masters
account kubeconfigs/controller-manager system:kube-controller-manager
account kubeconfigs/scheduler system:kube-scheduler
account kubeconfigs/proxy system:kube-proxy
account kubeconfigs/kubelet "system:node:$NODE_NAME" system:nodes

cat >audit-policy.yaml <<'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
YAML

# ptp and not bridge: every packet between pods is routed through the node, so that answers of a Service's pod find their way
# back through its address translation without the bridge netfilter module.
cat >cni/10-lab.conflist <<JSON
{"cniVersion": "0.4.0", "name": "lab", "plugins": [
  {"type": "ptp", "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "$LAB/cni-addresses",
    "ranges": [[{"subnet": "$POD_NETWORK"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON

# restrict_oom_score_adj: the machine may lack CAP_SYS_RESOURCE.
cat >containerd.toml <<TOML
version = 2
root = "$LAB/containerd/root"
state = "$LAB/containerd/state"
[grpc]
  address = "$LAB/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:3.10"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$LAB/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
TOML

# KubeletInUserNamespace: a sysctl that cannot be set is no reason to end.
cat >kubelet.yaml <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NODE_IP
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $LAB/pki/ca.crt}}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: /$NODE_ID
cgroupsPerQOS: true
containerRuntimeEndpoint: unix://$LAB/containerd.sock
enforceNodeAllocatable: []
evictionHard: {memory.available: "100Mi"}
failSwapOn: false
featureGates: {KubeletInUserNamespace: true}
imageGCHighThresholdPercent: 100
allowedUnsafeSysctls: []
maxPods: 250
podLogsDir: $LAB/pod-logs
registerNode: true
YAML
