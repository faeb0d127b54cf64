/** A job over three datacenters, of which one needs a retry and one fails. Imports types only. */
import type { Template } from './template.js'

const JOB = `# The same workflows at several datacenters, with one budget of retries for all of them.
#
#   reprise explain job.yaml         what the job may cost
#   reprise job run job.yaml         here, with a group of local workers for each datacenter:
#                                    us recovers by a retry, ap fails, and two of three are enough
#   reprise job status latest        every workflow at every datacenter
#
# A job that was stopped by Ctrl-C, kill -9 or a crash: \`reprise resume\` with its id continues it.
# On many machines: \`reprise worker --datacenter eu --store postgres://…\` at each of them, then
# \`reprise job submit job.yaml --wait --store postgres://…\` anywhere.
mode: job
name: checkout-probe
datacenters: [eu, us, ap]

workflows: # each runs at every datacenter; \`file: login.yaml\` instead of \`document:\` for one in a file
  - name: login
    document:
      steps:
        - shell: sh probe.sh login # put your own commands here
  - name: buy
    needs: [login]
    document:
      steps:
        - shell: sh probe.sh buy
          capture: ms
      outputs: { latency: '\${ms}' } # what the workflow gives

retry_budget: 6 # retries of the whole job; the first attempt of a workflow is free
retry_budget_per_workflow: 3 # of them, for one workflow at one datacenter
best_effort: # without it the job waits for every datacenter, and succeeds if nothing failed
  min_dcs: 2 # so many datacenters have to complete
  deadline: 1m # with fewer of them the job completes then, without success
  settle: 30s # how long the others may still report after that
aggregate: { latency: max } # over the datacenters that have reported
`

const PROBE = `#!/bin/sh
# Stands for a command of your own: probe.sh login|buy. Its datacenter is in REPRISE_DATACENTER.
if [ "$1" = login ]; then
  if [ "$REPRISE_DATACENTER" = ap ]; then
    echo 'connect ECONNREFUSED ap.example:443' >&2
    exit 7
  fi
  if [ "$REPRISE_DATACENTER" = us ] && [ ! -e tried-before ]; then
    touch tried-before
    echo 'connect ETIMEDOUT us.example:443' >&2
    exit 7
  fi
fi
test "$REPRISE_DATACENTER" = eu && echo 120 || echo 310
`

export const JOB_TEMPLATE: Template = {
  files: { 'job.yaml': JOB, 'probe.sh': PROBE },
  next: ['reprise job run job.yaml', 'reprise job status latest'],
}
