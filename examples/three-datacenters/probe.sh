#!/bin/sh
# Starts a worker for each of three datacenters, submits the job, and kills the worker of ap while it logs in.
set -eu
# The command of the clone, so that $! is the worker itself.
PATH="$PWD/node_modules/.bin:$PWD/../../node_modules/.bin:$PATH"
mkdir -p out

reprise worker --datacenter eu 2> out/eu.log &
eu=$!
reprise worker --datacenter us 2> out/us.log &
us=$!
reprise worker --datacenter ap 2> out/ap.log &
ap=$!
# A job for a datacenter that no worker has registered is refused.
for name in eu us ap; do
  until grep -q Working "out/$name.log"; do sleep 0.1; done
done

reprise job submit job.yaml --job-id probe
until test -e out/login-ap; do sleep 0.1; done
echo 'kill -9 of the worker of ap'
kill -9 "$ap"

code=0
reprise job wait probe || code=$?
reprise job status probe
reprise job result probe --json > out/result.json
kill "$eu" "$us"
wait "$eu" "$us" || true
exit "$code"
