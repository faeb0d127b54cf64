/**
 * Runs a command that says a great deal, to a listener that is slower than it, and prints how much was heard and how much
 * memory this process had at most, before and after. Its argument: how many bytes. Imports the process runner.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runCommand } from '../../packages/workflow/src/process/run-command.js'

const total = Number(process.argv[2])
let heard = 0

async function run(bytes: number): Promise<string> {
  const end = await runCommand({
    argv: ['sh', '-c', `yes 'a line like many others' | head -c ${bytes}`],
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: '/',
    tag: `flood-${process.pid}/1`,
    signal: new AbortController().signal,
    graceMs: 1000,
    keepStdoutBytes: 1000,
    onOutput: async (_, chunk) => {
      heard += chunk.length
      await nextTurn()
    },
  })
  return `${end.exitCode} ${end.stdout.length} ${end.stdoutTail.length}`
}

await run(1_000_000)
const beforeKib = process.resourceUsage().maxRSS
heard = 0
const end = await run(total)
const afterKib = process.resourceUsage().maxRSS
process.stdout.write(JSON.stringify({ heard, end, beforeKib, afterKib }))
