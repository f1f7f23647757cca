#!/usr/bin/env bash
# node-keeper.sh PID: ends the node of LAB when that process has ended, even by SIGKILL: a test that crashed leaves nothing.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
tail --pid="$1" -f /dev/null
exec "$REPO/scripts/cluster/node-down.sh"
