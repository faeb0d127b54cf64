/**
 * Flags for the maps of a workflow: which items run, how many at a time, where each attempt is noted, and standard input.
 * Imports Node, the workflow package and the errors of a wrong use.
 */
import { closeSync, openSync } from 'node:fs'
import path from 'node:path'
import { InputError, type Plan } from '@reprise/workflow'
import { mapsOf, type MapSettings, partChoice, TextError } from '@reprise/workflow/internal'
import { UsageError } from '../failures.js'
import { countOf } from '../input/count-flag.js'
import type { ProcessIo } from '../process-io.js'

export type MapFlags = {
  readonly maxParallel?: string
  readonly maxFailures?: string
  readonly sample?: string
  readonly only?: readonly string[]
  readonly where?: string
  readonly joblog?: string
}

const NAMES: Readonly<Record<keyof MapFlags, string>> = {
  maxParallel: '--max-parallel',
  maxFailures: '--max-failures',
  sample: '--sample',
  only: '--only',
  where: '--where',
  joblog: '--joblog',
}

/** Whether only a part of the items is to run. */
function isPart({ sample, only, where }: MapFlags): boolean {
  return sample !== undefined || only !== undefined || where !== undefined
}

/** `file`: the workflow's, `-` for stdin. */
export async function mapSettingsOf(flags: MapFlags, plan: Plan, file: string, io: ProcessIo): Promise<MapSettings> {
  expectMaps(flags, plan)
  const maxParallel = countOf(NAMES.maxParallel, flags.maxParallel)
  const maxFailures = countOf(NAMES.maxFailures, flags.maxFailures)
  const sample = countOf(NAMES.sample, flags.sample)
  const { only, where, joblog } = flags
  const asked = {
    ...(sample !== undefined && { sample }),
    ...(only && { only }),
    ...(where !== undefined && { where }),
  }
  return {
    ...(isPart(flags) && { part: await partOf(asked) }),
    ...(maxParallel !== undefined && { maxParallel }),
    ...(maxFailures !== undefined && { maxFailures }),
    ...(joblog !== undefined && { jobLog: jobLogOf(joblog) }),
    ...stdinOf(plan, file, io),
  }
}

export function expectMaps(flags: MapFlags, plan: Plan): void {
  const given = (Object.keys(NAMES) as (keyof MapFlags)[]).find((name) => flags[name] !== undefined)
  if (given === undefined || mapsOf(plan).length > 0) return
  throw new UsageError(`${NAMES[given]} is about the items of a map, and ${plan.name} has no map`)
}

async function partOf(asked: Parameters<typeof partChoice>[0]): ReturnType<typeof partChoice> {
  try {
    return await partChoice(asked)
  } catch (error) {
    if (error instanceof TextError)
      throw new UsageError(`--where: ${error.message}`, error.suggestion ?? "such as --where 'item.size > 10'")
    throw error
  }
}

/** Its place is tried before anything runs. */
function jobLogOf(file: string): string {
  if (file === '' || file === '-') throw new UsageError('--joblog needs the name of a file', 'such as jobs.tsv')
  const absolute = path.resolve(file)
  try {
    closeSync(openSync(absolute, 'a'))
  } catch (error) {
    throw new InputError([{ file, message: `the job log cannot be written: ${(error as Error).message}` }])
  }
  return absolute
}

function stdinOf(plan: Plan, file: string, io: ProcessIo): Pick<MapSettings, 'stdin'> {
  const reader = mapsOf(plan).find(({ input }) => input.kind === 'stdin')
  if (reader === undefined) return {}
  if (file === '-') {
    const message = `the workflow and the items of map ${reader.id} are both read from stdin`
    throw new UsageError(message, 'give the workflow as a file')
  }
  return { stdin: () => bytesOf(io) }
}

async function* bytesOf({ stdin, stderr }: ProcessIo): AsyncGenerator<Uint8Array> {
  if (stdin.isTTY === true) stderr.write('Type the items, one in each line, and end them with Ctrl-D.\n')
  for await (const piece of stdin) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}
