/**
 * A map that was interrupted with very many items pending: its preview, and its resume until the first item runs. Each
 * round goes on with a copy. Imports Node and the contenders' command.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Line } from '../ledger/report.js'
import { inNewDirectory } from '../ledger/scratch.js'
import { median } from '../ledger/statistics.js'
import { costOf } from '../workflow/costs.js'
import { COMMAND, documentOf } from './contenders.js'

const run = promisify(execFile)
/** Notes the memory of the process when it ends. */
const NOTE_MEMORY = `data:text/javascript,${encodeURIComponent(
  `import { writeFileSync } from 'node:fs'; process.on('exit', () => writeFileSync('memory', String(process.resourceUsage().maxRSS)))`,
)}`
/** Notes when the first item runs, and ends the process: the rest does not matter. */
const FIRST = `import { existsSync, writeFileSync } from 'node:fs'
export default () => {
  if (!existsSync('wanted')) return null
  writeFileSync('first', String(Date.now()), { flag: 'wx' })
  process.kill(process.pid, 'SIGKILL')
}
`

export async function measureResumes(count: number, rounds: number): Promise<Line[]> {
  return inNewDirectory(async (directory) => {
    const origin = path.join(directory, 'origin')
    await interrupted(origin, count)
    const first: number[] = []
    const preview: number[] = []
    const cpu: number[] = []
    const bare: number[] = []
    let memory = 0
    for (let round = 0; round < rounds; round++) {
      const copy = path.join(directory, `copy-${round}`)
      cpSync(origin, copy, { recursive: true })
      bare.push((await costOf([process.execPath, '-e', '0'])).wallMs)
      const previewed = await costOf(
        [process.execPath, '--import', NOTE_MEMORY, COMMAND, 'resume', 'items', '--dry-run'],
        { cwd: copy },
      )
      preview.push(previewed.wallMs)
      cpu.push(previewed.cpuMs)
      memory = Math.max(memory, Number(readFileSync(path.join(copy, 'memory'), 'utf8')) / 1024)
      first.push(await firstItemMs(copy))
    }
    const name = `${count} pending items`
    return [
      {
        what: `${name}: \`resume\` until the first one runs`,
        value: median(first) / 1000,
        unit: 's',
        most: { goal: 0.5 },
      },
      { what: `${name}: \`resume --dry-run\``, value: median(preview) / 1000, unit: 's', most: { goal: 2 } },
      { what: '… time of the processors', value: median(cpu) / 1000, unit: 's' },
      { what: '… memory', value: memory, unit: 'MB', most: { goal: 300 } },
      { what: '`node -e 0` in the same turns', value: median(bare) / 1000, unit: 's' },
    ]
  })
}

/** One item is done; the run waits for its resume. */
async function interrupted(cwd: string, count: number): Promise<void> {
  mkdirSync(cwd)
  writeFileSync(path.join(cwd, 'items.yaml'), documentOf(count, 8, 1, { script: './first.mjs' }))
  writeFileSync(path.join(cwd, 'first.mjs'), FIRST)
  await run(process.execPath, [COMMAND, 'run', 'items.yaml', '--run-id', 'items', '--only', '1'], { cwd })
}

async function firstItemMs(cwd: string): Promise<number> {
  writeFileSync(path.join(cwd, 'wanted'), '')
  const startMs = Date.now()
  const child = spawn(process.execPath, [COMMAND, 'resume', 'items'], { cwd, stdio: 'ignore' })
  await once(child, 'exit')
  const file = path.join(cwd, 'first')
  if (!existsSync(file)) throw new Error('No item has begun')
  return Number(readFileSync(file, 'utf8')) - startMs
}
