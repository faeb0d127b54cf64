#!/bin/sh
# Three servers, each a file in out/ with its version. A new version needs three looks until it is well; one whose name
# ends in -broken never is. PACE is how many seconds a server takes.
set -eu
mkdir -p out
SERVERS='a b c'

version_of() { cat "out/server-$1" 2>/dev/null || echo 1.4.2; }

case ${1:-} in
version) version_of a ;;
deploy)
  # A connection that is lost before anything has happened.
  if [ "${REPRISE_ATTEMPT:-1}" -eq 1 ] && [ ! -e out/server-a ]; then
    echo 'ssh: connect to host server-a port 22: Connection refused' >&2
    exit 255
  fi
  for server in $SERVERS; do
    echo "$2 goes to server $server"
    sleep "${PACE:-0.4}"
    echo "$2" >"out/server-$server"
  done
  : >out/looks
  echo "deployed $2" >>out/history
  ;;
is-at)
  for server in $SERVERS; do
    [ "$(version_of "$server")" = "$2" ] || exit 1
  done
  echo "$2 is on all servers"
  ;;
health)
  echo look >>out/looks
  looks=$(($(wc -l <out/looks)))
  case $(version_of a) in
  *-broken) looks=1 ;;
  esac
  if [ "$looks" -lt 3 ]; then
    echo "$looks of 3 servers are well" >&2
    exit 1
  fi
  echo well
  ;;
*)
  echo 'usage: servers.sh version | deploy VERSION | is-at VERSION | health' >&2
  exit 2
  ;;
esac
