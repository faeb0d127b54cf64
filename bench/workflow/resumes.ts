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
        showAll: () => run('show', 'large', '--all'),
        ps: () => run('ps'),
        watch: () => run('watch', 'large'),
        resume: () => untilBegun(file, mark, directory),
      },
      rounds,
    )
    const what = `${steps} finished steps`
    const goal = { most: { goal: MOST_S } }
    const wall = (words: string, { wallMs }: Cost, more: object = goal): Line => ({
      what: `${what}: ${words}`,
      value: wallMs / 1000,
      unit: 's',
      ...more,
    })
    const cpu = (words: string, { cpuMs }: Cost): Line => ({ what: `… ${words}`, value: cpuMs / 1000, unit: 's' })
    return [
      wall('`resume --dry-run`', costs.preview),
      wall('`resume` until the next step runs', costs.resume),
      wall('`show`', costs.show),
      wall('`ps`', costs.ps),
      wall('`watch`, of the run as it was left', costs.watch),
      wall('`show --all`', costs.showAll, {}),
      { what: '`node -e 0` in the same turns', value: costs.bare.wallMs / 1000, unit: 's' },
      cpu('time of the processors: `resume --dry-run`', costs.preview),
      cpu('`show`', costs.show),
      cpu('`ps`', costs.ps),
      cpu('`watch`', costs.watch),
      cpu('`show --all`', costs.showAll),
      cpu('`node -e 0`', costs.bare),
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
