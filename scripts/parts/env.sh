# To be sourced: where the parts are. What is set already stays, so that a machine can bring its own.
# shellcheck shell=sh

OUTRIGGER_CACHE=${OUTRIGGER_CACHE:-$HOME/.cache/outrigger}
HAPROXY_BINARIES=${HAPROXY_BINARIES:-$OUTRIGGER_CACHE/haproxy}
KUBEBUILDER_ASSETS=${KUBEBUILDER_ASSETS:-$OUTRIGGER_CACHE/kubebuilder/bin}
PATH=$OUTRIGGER_CACHE/tools/bin:$KUBEBUILDER_ASSETS:$PATH
# For jemalloc's configure, when building for musl: it looks for the unwinder in gcc's library, which does not link with musl where
# gcc was built for glibc. The unwinder that is used is Rust's own, which comes with the last link. Without it: no heap profile.
ac_cv_lib_gcc__Unwind_Backtrace=yes
export ac_cv_lib_gcc__Unwind_Backtrace OUTRIGGER_CACHE HAPROXY_BINARIES KUBEBUILDER_ASSETS PATH
