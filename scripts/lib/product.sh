# For demo.sh, to be sourced after common.sh: the steps that it shows, and what it asks of the proxy.
# shellcheck shell=bash

work=$(mktemp -d /tmp/outrigger.XXXXXX) log=$work/outrigger.log
trap clean_up EXIT
haproxy=$(haproxy_binary 3.2)
read -r http_port https_port stats_port healthz_port default_port controller_port <<<"$(free_ports 6)"

STEP=0 PIDS=()
step() { STEP=$((STEP + 1)); printf '\n%d. %s\n' "$STEP" "$*"; }
result() { printf '   %s\n' "$*"; }

# fail MESSAGE: with the end of the log, where the reason is.
fail() {
  say; say "FAILED in step $STEP: $*"
  say "the last lines of $(basename "$log"):"
  tail -30 "$log" >&2 || true
  exit 1
}

# start LOG COMMAND...: a child that the exit trap ends.
start() {
  local to=$1; shift
  "$@" >"$to" 2>&1 </dev/null &
  PIDS+=($!)
}

# The exit trap. HAProxy is the controller's child, but it is made to survive it: its pid is asked for before.
clean_up() {
  local haproxy
  haproxy=$(master_pid "$work/run/master.sock" || true)
  # shellcheck disable=SC2086 # empty when there is none
  stop "${PIDS[@]}" $haproxy
  rm -rf "$work"
}

# start_outrigger ARGUMENT...: with HAProxy 3.2 as its child, all ports on loopback.
start_outrigger() {
  mkdir "$work/etc" "$work/run"
  start "$log" "$OUTRIGGER" run --external --program "$haproxy" --config-dir "$work/etc" --runtime-dir "$work/run" \
    --ipv4-bind-address 127.0.0.1 --disable-ipv6 --http-bind-port "$http_port" --https-bind-port "$https_port" \
    --stats-bind-port "$stats_port" --healthz-bind-port "$healthz_port" \
    --default-backend-port "$default_port" --controller-port "$controller_port" --grace-period 2s "$@"
  # a program that ended is not waited for
  wait_for 30 ready_or_gone "${PIDS[-1]}" || true
  ready || fail "HAProxy is not ready"
}
ready_or_gone() { ready || gone "$1"; }
ready() { curl -sf --noproxy '*' -m 2 -o /dev/null "http://127.0.0.1:$healthz_port/readyz"; }

# start_echo NAME ADDRESS PORT
start_echo() {
  start "$work/$1.log" python3 "$REPO/scripts/lib/echo.py" "$1" "$2" "$3"
  wait_for 10 curl -sf --noproxy '*' -m 2 -o /dev/null "http://127.0.0.1:$3/" || fail "the echo server $1 does not start"
}

# ask HOST PATH: "STATUS BODY" on one line; the body only of a 200.
ask() {
  local status
  status=$(curl -s --noproxy '*' -m 2 -o "$work/body" -w '%{http_code}' -H "Host: $1" "http://127.0.0.1:$http_port$2" || true)
  if [ "$status" = 200 ]; then echo "200 $(cat "$work/body")"; else echo "$status"; fi
}
asks() { [ "$(ask "$1" "$2")" = "$3" ]; }

# expect HOST PATH ANSWER: waits for that answer and says how long it took, the polling included.
expect() {
  local from=${EPOCHREALTIME/[.,]/} ms
  wait_for 20 asks "$1" "$2" "$3" || fail "http://$1$2 answers \"$(ask "$1" "$2")\" and not \"$3\""
  ms=$(((${EPOCHREALTIME/[.,]/} - from) / 1000))
  result "http://$1$2 → $3   (after $ms ms)"
}

# certificate HOST: the subject of what HAProxy shows for that name.
certificate() {
  curl -skv --noproxy '*' -m 2 -o /dev/null --resolve "$1:$https_port:127.0.0.1" "https://$1:$https_port/" 2>&1 |
    sed -n 's/^\* *subject: //p'
}
shows_certificate() { [[ "$(certificate "$1")" == *"$2"* ]]; }
expect_certificate() {
  local from=${EPOCHREALTIME/[.,]/} ms
  wait_for 20 shows_certificate "$1" "$2" || fail "https://$1 shows \"$(certificate "$1")\" and not \"$2\""
  ms=$(((${EPOCHREALTIME/[.,]/} - from) / 1000))
  result "https://$1/ shows \"$(certificate "$1")\"   (after $ms ms)"
}
