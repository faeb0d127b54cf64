/**
 * Datacenters as groups of workers in this process: how `job run` and `resume` execute a job without any server. What a
 * resume must know again, where commands run and how many at a time, is kept in a file beside the store. Imports the jobs
 * package and Node.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Jobs, JobWorker } from '@reprise/jobs'
import { isId, stateDirectoryOf } from '@reprise/workflow/internal'
import { isRepriseError } from 'reprise'
import type { CommandContext } from '../../command-context.js'

export interface GroupSettings {
  /** Where commands run and relative paths start. */
  readonly directory: string
  /** Workflows at a time, at each datacenter. */
  readonly slots: number
}

export const USUAL_SLOTS = 4
/** Processes that run jobs on one store at the same time. */
const MOST_FILES = 16

/** One worker for each datacenter. Steps of workflows are kept in a file for each. */
export async function startGroups(
  jobs: Jobs,
  datacenters: readonly string[],
  { directory, slots }: GroupSettings,
  { io, settings }: CommandContext,
): Promise<readonly JobWorker[]> {
  const state = path.resolve(stateDirectoryOf(settings.store))
  const start = (datacenter: string): Promise<JobWorker> =>
    withFreeFile((nth) =>
      jobs.work({
        datacenter,
        slots,
        dir: directory,
        env: io.env,
        localStore: `sqlite:${path.join(state, `worker-${datacenter}${nth === 1 ? '' : `-${nth}`}.db`)}`,
      }),
    )
  return Promise.all(datacenters.map(start))
}

/** Another `job run` on the same store has the first file, and each worker needs one of its own. */
async function withFreeFile(start: (nth: number) => Promise<JobWorker>): Promise<JobWorker> {
  for (let nth = 1; ; nth++) {
    try {
      return await start(nth)
    } catch (error) {
      if (!isRepriseError(error, 'ledger') || error.problem !== 'refused' || nth === MOST_FILES) throw error
    }
  }
}

/** Written before the job is begun: a kill at any later moment finds it. */
export function keepGroups(id: string, groups: GroupSettings, { settings }: CommandContext): void {
  const file = fileOf(id, settings.store)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(groups)}\n`)
}

/** Whether `job run` has begun the job from this store. */
export function isBegunHere(id: string, { settings }: CommandContext): boolean {
  return existsSync(fileOf(id, settings.store))
}

/** Of a job that was not begun here, the working directory. */
export function keptGroups(id: string, { settings }: CommandContext): GroupSettings {
  try {
    const { directory, slots } = JSON.parse(readFileSync(fileOf(id, settings.store), 'utf8')) as Partial<GroupSettings>
    return { directory: directory ?? process.cwd(), slots: slots ?? USUAL_SLOTS }
  } catch {
    return { directory: process.cwd(), slots: USUAL_SLOTS }
  }
}

function fileOf(id: string, store: string): string {
  if (!isId(id)) throw new RangeError(`${id} is no id of a job`)
  return path.join(stateDirectoryOf(store), 'jobs', `${id}.json`)
}
