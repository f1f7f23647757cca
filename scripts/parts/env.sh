# To be sourced: where the parts are. What is set already stays, so that a machine can bring its own.
# shellcheck shell=sh

OUTRIGGER_CACHE=${OUTRIGGER_CACHE:-$HOME/.cache/outrigger}
HAPROXY_BINARIES=${HAPROXY_BINARIES:-$OUTRIGGER_CACHE/haproxy}
KUBEBUILDER_ASSETS=${KUBEBUILDER_ASSETS:-$OUTRIGGER_CACHE/kubebuilder/bin}
PATH=$OUTRIGGER_CACHE/tools/bin:$KUBEBUILDER_ASSETS:$PATH
export OUTRIGGER_CACHE HAPROXY_BINARIES KUBEBUILDER_ASSETS PATH
