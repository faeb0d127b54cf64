/** Workers and submitters as processes that share a store, for tests that kill and stop them. Imports Node and the programs. */
import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, afterEach } from 'vitest'
import type { Ledger, TaskKey } from 'reprise/durable'
import { bundleProgram } from '../bundled-program.js'
import { bundledFor } from '../gates/shared-place.js'
import { until } from '../gates/until.js'
import type { DocumentWorkerSettings } from './document-worker.js'
import type { PlotName } from './job-plots.js'
import type { KillMoment, KillPlace } from './kill-places.js'

export interface JobProcess {
  readonly child: ChildProcess
  /** Lines that it has said. */
  readonly said: readonly string[]
  readonly exit: Promise<number | null>
}

type ActorArguments = [plot: PlotName, place: KillPlace, moment: KillMoment, lease?: string, signal?: 'SIGSTOP']

export interface JobProcesses {
  worker(address: string, datacenter: string, lease?: string): Promise<JobProcess>
  /** Of documents, in a directory of its own. */
  documents(address: string, settings: DocumentWorkerSettings): Promise<JobProcess>
  submitter(address: string, requests: readonly object[], lease?: string): Promise<JobProcess>
  /** Resolves when it has been killed. */
  actor(address: string, ...args: ActorArguments): Promise<NodeJS.Signals>
}

/** They are killed after each test. */
export function jobProcesses(): JobProcesses {
  const worker = bundledFor(() => bundleProgram(new URL('job-worker.ts', import.meta.url)))
  const submitter = bundledFor(() => bundleProgram(new URL('job-submitter.ts', import.meta.url)))
  const documents = bundledFor(() => bundleProgram(new URL('document-worker.ts', import.meta.url)))
  const actor = bundledFor(() => bundleProgram(new URL('job-actor.ts', import.meta.url)))
  const living = new Set<ChildProcess>()
  // Of tests that run at the same time.
  const actors = new Set<ChildProcess>()
  afterAll(() => {
    for (const child of actors) child.kill('SIGKILL')
  })
  afterEach(() => {
    for (const child of living) child.kill('SIGKILL')
    living.clear()
  })
  const start = async (file: string, ...args: readonly string[]): Promise<JobProcess> => {
    const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    living.add(child)
    const said: string[] = []
    child.stdout.on('data', (text: Buffer) => said.push(...text.toString().trim().split('\n')))
    const exit = new Promise<number | null>((resolve) =>
      child.once('exit', (code) => {
        living.delete(child)
        resolve(code)
      }),
    )
    await until(async () => said.length > 0 || child.exitCode !== null, `the start of ${file}`)
    return { child, said, exit }
  }
  return {
    worker: (address, datacenter, lease = '2s') => start(worker().file, address, datacenter, lease),
    documents: (address, settings) => start(documents().file, address, JSON.stringify(settings)),
    submitter: (address, requests, lease = '2s') => start(submitter().file, address, JSON.stringify(requests), lease),
    actor: (address, ...args) => {
      const given = args.filter((arg) => arg !== undefined)
      const child = spawn(process.execPath, [actor().file, address, ...given], { stdio: 'inherit' })
      actors.add(child)
      return new Promise((resolve, reject) =>
        child.once('exit', (code, signal) => {
          actors.delete(child)
          if (signal === null) reject(new Error(`It ended with ${code} before it came to ${args.join(' ')}`))
          else resolve(signal)
        }),
      )
    },
  }
}

/** Stops it where it holds no lock of these rows: otherwise nobody could go on, whatever the lease says. */
export async function stopBetweenTransactions(
  { child }: JobProcess,
  ledger: Ledger,
  runs: readonly string[],
  tasks: readonly TaskKey[],
): Promise<void> {
  for (;;) {
    child.kill('SIGSTOP')
    const isFree = ledger.transact({ runs, tasks }, () => ({ result: true }))
    const soon = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 1000))
    if (await Promise.race([isFree, soon])) return
    child.kill('SIGCONT')
    await isFree
  }
}
