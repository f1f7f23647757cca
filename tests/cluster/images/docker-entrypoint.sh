#!/bin/sh
# Options alone, or `haproxy` with options: run it as a master that stays in the foreground. Anything else: run that.
set -e
case ${1:-} in
  -*) exec haproxy -W -db "$@" ;;
  haproxy) shift; exec haproxy -W -db "$@" ;;
  *) exec "$@" ;;
esac
