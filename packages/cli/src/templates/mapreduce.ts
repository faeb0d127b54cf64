/** A workflow over many items, with one that fails at first and one that cannot succeed. Imports types only. */
import type { Template } from './template.js'

const WORKFLOW = `# The same steps for each of many items: run it, look at it, then change it.
#
#   reprise run workflow.yaml --dry-run   what would be done
#   reprise run workflow.yaml             order 3 fails at first and recovers, order 5 cannot succeed
#   reprise explain workflow.yaml map     what the policy of an item does when everything fails
#
# An item that has failed for good is kept with its error, and the run ends as completed with failures (exit code 3).
# A run that was stopped by Ctrl-C, kill -9 or a crash: \`reprise resume\` continues with the items that are left.
name: orders
mode: mapreduce

map:
  input: orders.json # also .ndjson, .csv, lines, a glob, a command, {range: [1, 500]} or a list
  json_path: $.orders[*]
  max_parallel: 4 # items at a time
  agent_timeout: 30s # for one attempt of an item
  agent_template: # the steps for each item; put your own commands here
    - name: import
      shell: sh import.sh "\${item.id}" "\${item.amount}"

error_policy:
  item_retry:
    attempts: 4
    initial_delay: 300ms
    jitter: full # items that failed together do not retry together
    retry_on: [network, timeout, 5xx] # any other failure is not retried
  on_item_failure: dlq # keep the item; \`stop\` ends the map instead
  max_failures: 10 # the tenth failed item ends the map

reduce: # once, when every item has ended
  - name: report
    shell: |
      echo "\${map.succeeded} of \${map.total} orders imported"
      cat "\${map.results_file}" # a line of JSON for each item
`

const ORDERS = `{
  "orders": [
    { "id": 1, "amount": 12 },
    { "id": 2, "amount": 30 },
    { "id": 3, "amount": 7 },
    { "id": 4, "amount": 55 },
    { "id": 5, "amount": "twelve" },
    { "id": 6, "amount": 21 }
  ]
}
`

const IMPORT = `#!/bin/sh
# Imports one order: import.sh ID AMOUNT. Stands for a command of your own.
if [ "$1" = 3 ] && [ ! -e tried-before ]; then
  touch tried-before
  echo 'connect ECONNREFUSED 127.0.0.1:8080' >&2
  exit 1
fi
case "$2" in
  '' | *[!0-9]*)
    echo "order $1: the amount $2 is not a number" >&2
    exit 65
    ;;
esac
echo "imported order $1"
`

export const MAP_REDUCE: Template = {
  files: { 'workflow.yaml': WORKFLOW, 'orders.json': ORDERS, 'import.sh': IMPORT },
  next: ['reprise run workflow.yaml', 'reprise show'],
}
