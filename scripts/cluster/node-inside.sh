#!/usr/bin/env bash
# node-inside.sh: the first process of the node, in network, PID and mount namespaces that node-up.sh made. It starts the parts,
# makes LAB/ready when the node is, and then stays: with it the kernel ends all of them.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=scripts/lib/node.sh
source "$REPO/scripts/lib/node.sh"
cd "$LAB"

# kubelet asks for mounts that are shared; the peers of these are in this namespace only.
mount --make-rprivate /
mount --make-rshared /
# What these programs keep outside of their own folders.
mount -t tmpfs run /run
mkdir -p /run/lock /run/netns
for folder in /var/lib/kubelet /var/lib/cni /var/log/containers; do
  mkdir -p "$folder" "$LAB/private$folder"
  mount --bind "$LAB/private$folder" "$folder"
done
# kubelet sets these for the whole machine, and ends when it cannot: it finds them as it wants them.
while read -r name value; do
  [ -e "/proc/sys/$name" ] || continue
  mkdir -p "$(dirname "$LAB/private/sys/$name")"
  echo "$value" >"$LAB/private/sys/$name"
  mount --bind "$LAB/private/sys/$name" "/proc/sys/$name"
done <<'VALUES'
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
VALUES

ip link set lo up
# The API server and kubelet want an address that is not loopback. Not a dummy: some kernels have none.
ip link add node0 type veth peer name node0-peer
ip addr add "$NODE_IP/24" dev node0
ip link set node0-peer up
ip link set node0 up
ip route add default via "${NODE_IP%.*}.254" dev node0
# route_localnet: kube-proxy and the host ports of pods may be asked for on loopback
sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=1 net.ipv4.ip_local_port_range="15000 30000"

# begin NAME COMMAND...: with its log; a part that ends later is seen by what then fails.
declare -A PIDS
begin() {
  local name=$1; shift
  "$@" >"log/$name.log" 2>&1 </dev/null &
  PIDS[$name]=$!
}
# until_ready SECONDS NAME CONDITION...
until_ready() {
  local seconds=$1 name=$2; shift 2
  done_or_gone() { "$@" || gone "${PIDS[$name]}"; }
  wait_for "$seconds" done_or_gone "$@" || die "$name is not ready after $seconds s"
  gone "${PIDS[$name]}" && die "$name ended"
  return 0
}

begin containerd "$(node_program containerd)" --config containerd.toml
# no fsync: nothing here outlives a crash of the machine
begin etcd "$(node_program etcd)" --data-dir etcd --unsafe-no-fsync --logger zap \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
  --initial-cluster default=http://127.0.0.1:2380
# The API server goes while there is LAB/apiserver.stop, and comes back after it: tests take it away.
keep_apiserver() {
  local pid
  while true; do
    "$@" &
    pid=$!
    while [ ! -e apiserver.stop ] && ! gone "$pid"; do sleep 0.5; done
    # at once: told to end, it would first serve on for as long as its watches are open
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" || true
    while [ -e apiserver.stop ]; do sleep 0.1; done
  done
}

until_ready 60 etcd curl -sf --noproxy '*' -m 2 -o /dev/null http://127.0.0.1:2379/health
begin apiserver keep_apiserver "$(node_program kube-apiserver)" --etcd-servers http://127.0.0.1:2379 \
  --bind-address 0.0.0.0 --secure-port 6443 --advertise-address "$NODE_IP" --service-cluster-ip-range "$SERVICE_NETWORK" \
  --tls-cert-file pki/api.crt --tls-private-key-file pki/api.key --client-ca-file pki/ca.crt \
  --kubelet-client-certificate pki/kubelet-client.crt --kubelet-client-key pki/kubelet-client.key \
  --kubelet-preferred-address-types InternalIP --token-auth-file pki/tokens.csv \
  --service-account-issuer https://kubernetes.default.svc --service-account-key-file pki/sa.pub \
  --service-account-signing-key-file pki/sa.key --authorization-mode Node,RBAC \
  --enable-admission-plugins NodeRestriction --allow-privileged \
  --audit-policy-file audit-policy.yaml --audit-log-path audit.log

# The images meanwhile, one after another: the order in which they are needed is not known.
bring_images() {
  local archive name further
  while read -r archive name further; do
    ctr_images import --no-unpack "$archive" >/dev/null
    for further in $further; do ctr_images tag "$name" "$further" >/dev/null; done
  done <images
}
ctr_images() { ctr --address containerd.sock --namespace k8s.io images "$@"; }
containerd_ready() { ctr --address containerd.sock version >/dev/null 2>&1; }
until_ready 60 containerd containerd_ready
begin images bring_images

kubectl=$(node_program kubectl)
kube() { "$kubectl" --kubeconfig kubeconfig --request-timeout 5s "$@"; }
api_ready() { kube get --raw /readyz >/dev/null 2>&1; }
until_ready 300 apiserver api_ready
begin controller-manager "$(node_program kube-controller-manager)" --kubeconfig kubeconfigs/controller-manager \
  --service-account-private-key-file pki/sa.key --root-ca-file pki/ca.crt --use-service-account-credentials \
  --controllers '*,-nodeipam' --leader-elect=false
begin scheduler "$(node_program kube-scheduler)" --kubeconfig kubeconfigs/scheduler --leader-elect=false
begin kubelet "$(node_program kubelet)" --config kubelet.yaml --kubeconfig kubeconfigs/kubelet --root-dir "$LAB/kubelet" \
  --cert-dir "$LAB/kubelet/pki" --hostname-override "$NODE_NAME" --node-ip "$NODE_IP" --v 2
# conntrack settings are those of the machine; nothing of them is touched
begin proxy "$(node_program kube-proxy)" --kubeconfig kubeconfigs/proxy --proxy-mode nftables --cluster-cidr "$POD_NETWORK" \
  --hostname-override "$NODE_NAME" --conntrack-max-per-core 0 --conntrack-tcp-timeout-established 0 \
  --conntrack-tcp-timeout-close-wait 0

wait "${PIDS[images]}" || die "an image cannot be imported"
node_ready() { kube get node "$NODE_NAME" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null | grep -q True; }
until_ready 120 kubelet node_ready
default_account() { kube get serviceaccount default >/dev/null 2>&1; }
until_ready 120 controller-manager default_account
touch ready
# Also takes up the processes that lose their parents.
for name in etcd apiserver containerd controller-manager scheduler kubelet proxy; do
  wait "${PIDS[$name]}" || true
done
