#!/usr/bin/env bash
# apiserver-down.sh: ends what apiserver-up.sh started in LAB, the API server before its etcd.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
LAB=${LAB:?the work folder of apiserver-up.sh}
for program in apiserver etcd; do
  if [ -f "$LAB/$program.pid" ]; then stop "$(cat "$LAB/$program.pid")"; rm "$LAB/$program.pid"; fi
done
