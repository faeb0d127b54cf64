/** Runs a workflow and kills its own process when it is told of an event. Arguments: file, run, type of event, step. */
import path from 'node:path'
import { startRun } from '@reprise/workflow/internal'
import { readPlan } from './read-plan.js'

const [file = '', runId = '', type = '', step = ''] = process.argv.slice(2)

await startRun(
  await readPlan(file),
  { runId, params: {}, cwd: process.cwd(), documentDir: process.cwd() },
  {
    store: process.env['REPRISE_STORE'] ?? 'sqlite:.reprise/ledger.db',
    stateDirectory: path.resolve('.reprise'),
    env: Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? ''])),
    listener: (event) => {
      if (event.type === type && 'step' in event && event.step === step) process.kill(process.pid, 'SIGKILL')
    },
  },
)
