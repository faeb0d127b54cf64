#!/bin/sh
# Imports one record into the store, the directory out/store: import.sh ID NAME PRICE. The file of a record is named after
# its id and put in place whole, so importing a record again, after a kill, changes nothing.
#
# Every hundredth record meets a lost connection at its first attempt. With DECIMAL_COMMA set, 12,50 is a price: that stands
# for the importer after somebody mended it.
id=$1 name=$2 price=$3

case "$id-$REPRISE_ATTEMPT" in
  *00-1)
    echo 'connect ECONNREFUSED' >&2
    exit 7
    ;;
esac
case "$price" in
  *,*) [ -z "${DECIMAL_COMMA:-}" ] || price="${price%,*}.${price#*,}" ;;
esac
case "$price" in
  [0-9]*.[0-9][0-9]) cents="${price%.*}${price#*.}" ;;
  *)
    echo "the price $price is not a number" >&2
    exit 65
    ;;
esac
printf '{"id": "%s", "name": "%s", "cents": %s}\n' "$id" "$name" "$cents" > "out/store/$id.tmp"
mv "out/store/$id.tmp" "out/store/$id.json"
printf '{"cents": %s}\n' "$cents"
