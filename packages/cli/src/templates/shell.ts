/** A workflow of commands, with a stand-in that fails twice. Imports types only. */
import type { Template } from './template.js'

const WORKFLOW = `# A workflow to start from: run it, look at it, then change it.
#
#   reprise run workflow.yaml
#   reprise logs                          the output of its steps
#   reprise explain workflow.yaml fetch   what the policy of a step does when everything fails
#   reprise validate workflow.yaml        after a change
#
# Each run is recorded in .reprise/. A run that was stopped by Ctrl-C, kill -9 or a crash: \`reprise resume\` continues it.
name: hello

retry_defaults: # for every step; its own \`retry\` overrides single fields
  attempts: 4
  backoff: exponential
  initial_delay: 300ms
  max_delay: 10s
  jitter: full # clients that failed together do not retry together
  retry_on: [network, timeout, 5xx] # any other failure is not retried
  attempt_timeout: 30s

steps:
  - name: fetch
    shell: sh flaky.sh # fails twice, then prints JSON: put your own command here
    capture: items # the name of its output in later steps: \${items}
    capture_format: json
    retry:
      attempts: 5

  - name: report
    when: size(items) > 0
    shell: echo "there are \${items[0].name} and others"
`

const FLAKY = `#!/bin/sh
# Fails at attempts 1 and 2, then answers. REPRISE_ATTEMPT is the number of the attempt; every step has it.
if [ "\${REPRISE_ATTEMPT:-1}" -lt 3 ]; then
  echo 'connect ECONNREFUSED 127.0.0.1:8080' >&2
  exit 1
fi
echo '[{ "name": "apples" }, { "name": "pears" }]'
`

export const SHELL: Template = {
  files: { 'workflow.yaml': WORKFLOW, 'flaky.sh': FLAKY },
  next: ['reprise run workflow.yaml', 'reprise logs'],
}
