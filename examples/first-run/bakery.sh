#!/bin/sh
# What examples/first-run.yaml meets. It fails by plan: every command that Reprise starts is told which attempt it is.
attempt=${REPRISE_ATTEMPT:-1}

# Says why on stderr, and fails.
fail() {
  sleep 0.2
  echo "$1" >&2
  exit 1
}

case ${1:-} in
orders)
  [ "$attempt" -eq 1 ] && fail 'connect ECONNRESET shop:443'
  [ "$attempt" -eq 2 ] && fail 'HTTP 503 Service Unavailable'
  echo '{ "rolls": 240, "cakes": 0 }'
  ;;
oven)
  [ "$attempt" -le 2 ] && fail 'the fuse is out'
  echo 'the oven is at 230 degrees'
  ;;
bake)
  for tray in 1 2 3 4 5 6; do
    echo "tray $tray of 6, $(($2 * tray / 6)) of $2"
    sleep 0.3
  done
  ;;
printer) fail 'out of paper' ;;
deliver)
  [ "$attempt" -eq 1 ] && echo 'calling the driver' && sleep 60
  echo "$2 rolls are on their way"
  ;;
*)
  echo 'usage: bakery.sh orders | oven | bake N | printer | deliver N' >&2
  exit 2
  ;;
esac
