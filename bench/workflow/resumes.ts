/** Looking at and resuming a run of very many steps, by the command line. Imports what takes turns. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Line } from '../ledger/report.js'
import { inNewDirectory } from '../ledger/scratch.js'
import { OUT } from './build.mjs'
import { REPRISE } from './commands.js'
import { type Cost, costOf, costsInTurns } from './costs.js'

const MOST_S = 2

export function measureResumes(steps: number, rounds: number): Promise<Line[]> {
  return inNewDirectory(async (directory) => {
    mkdirSync(path.join(directory, '.reprise'))
    const file = path.join(directory, 'ledger')
    const mark = path.join(directory, 'begun')
    await costOf([process.execPath, `${OUT}fill-child.js`, file, String(steps), mark], { cwd: directory })
    const store = ['--store', `sqlite:${file}`]
    const run = (...args: string[]): Promise<Cost> => costOf([...REPRISE, ...args, ...store], { cwd: directory })
    const costs = await costsInTurns(
      {
        bare: () => costOf([process.execPath, '-e', '0']),
        preview: () => run('resume', 'large', '--dry-run'),
        show: () => run('show', 'large'),
        ps: () => run('ps'),
        watch: () => run('watch', 'large'),
        resume: () => untilBegun(file, mark, directory),
      },
      rounds,
    )
    const seconds = (cost: Cost): number => cost.wallMs / 1000
    const what = `${steps} finished steps`
    const goal = { most: { goal: MOST_S } }
    return [
      { what: `${what}: \`resume --dry-run\``, value: seconds(costs.preview), unit: 's', ...goal },
      { what: `${what}: \`resume\` until the next step runs`, value: seconds(costs.resume), unit: 's', ...goal },
      { what: `${what}: \`show\``, value: seconds(costs.show), unit: 's', ...goal },
      { what: `${what}: \`ps\``, value: seconds(costs.ps), unit: 's', ...goal },
      { what: `${what}: \`watch\`, of the run as it was left`, value: seconds(costs.watch), unit: 's', ...goal },
      { what: `${what}: \`show\`, time of the processors`, value: costs.show.cpuMs / 1000, unit: 's' },
      { what: '`node -e 0` in the same turns', value: seconds(costs.bare), unit: 's' },
    ]
  })
}

/** With a copy, since it goes on to the end; what it does after the step has begun is not measured. */
async function untilBegun(file: string, mark: string, directory: string): Promise<Cost> {
  const copy = path.join(directory, 'copy')
  copyFileSync(file, copy)
  const [program, ...args] = [...REPRISE, 'resume', 'large', '--store', `sqlite:${copy}`] as const
  const startMs = performance.now()
  const child = spawn(program, args, { cwd: directory, stdio: 'ignore' })
  const ended = once(child, 'exit')
  while (!existsSync(mark) && child.exitCode === null) await sleep(1)
  const wallMs = performance.now() - startMs
  const [code] = (await ended) as [number | null]
  if (code !== 0 || !existsSync(mark)) throw new Error(`The resume ended with ${code}`)
  for (const one of [copy, `${copy}-wal`, `${copy}-shm`, mark]) rmSync(one, { force: true })
  return { wallMs, cpuMs: NaN }
}
