#!/bin/sh
# Stands for a request to the shop: site.sh login|buy. The first login at us meets an error that passes, the first at ap hangs.
mark="out/$1-$REPRISE_DATACENTER"
if [ ! -e "$mark" ]; then
  touch "$mark"
  case $mark in
    *login-us) echo 'connect ECONNRESET us.example:443' >&2; exit 7 ;;
    *login-ap) sleep 600 ;;
  esac
fi
test "$REPRISE_DATACENTER" = eu && echo 120 || echo 310
