#!/usr/bin/env bash
# test.sh: all tests, and where the time went. It goes on when some have failed, and says so at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/parts/env.sh
source scripts/parts/env.sh
trap print_times EXIT
# Tests mostly wait (for HAProxy to load, for pods to be ready), so there are more of them at a time than processors.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))}

failed=()
stage() { timed "$@" || failed+=("$1"); }

timed "building the tests" cargo test --workspace --locked --no-run
timed "building those on a node" cargo test --locked --test cluster --no-run
# meanwhile, with what the tests leave of the processors
nice -n 19 scripts/images.sh >/dev/null &
images=$!
stage "tests without a node" cargo test --workspace --locked --no-fail-fast
stage "the rest of the images" wait "$images"
stage "tests on a Kubernetes node" cargo test --locked --test cluster
stage "matrix of keys and branches" cargo test --locked --test matrix -- --nocapture
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
