/** The faults of a campaign: what is done to its processes and their networks. Imports the fleet and the places. */
import { setTimeout as delay } from 'node:timers/promises'
import { CUT_MOMENTS } from '../postgres/proxy.js'
import { type Fleet, LEASE_MS, type Member, SITES } from './campaign-fleet.js'
import { KILL_MOMENTS, type KillPlace } from './kill-places.js'

/** Where workers and submitters come by themselves; named-kills.test.ts has all places. */
const PLACES: readonly KillPlace[] = [
  'claim of a workflow',
  'retry of a workflow',
  'denial of a retry',
  'end of a workflow',
  'last end of a datacenter',
  'claim of a timer',
  'report',
  'completion',
  'late report',
  'stop of stragglers',
]

export const FAULTS = [
  'killed at a random moment',
  'killed at a named place',
  'silent',
  'silent one way',
  'silent, and killed',
  'late by 20 ms each way',
  'late by 80 ms each way',
  'cut at a commit',
  'most datacenters vanish',
  'no process at all',
] as const
export type Fault = (typeof FAULTS)[number]

/** Of these each is one partition; the others are kills. */
export const PARTITIONS: ReadonlySet<Fault> = new Set([
  'silent',
  'silent one way',
  'silent, and killed',
  'late by 20 ms each way',
  'late by 80 ms each way',
  'cut at a commit',
])

/** A process that is to come to a place has to start first. */
const MOST_TO_PLACE_MS = 15_000
const MOST_TO_COMMIT_MS = 3000

export interface FaultMaker {
  readonly fleet: Fleet
  readonly random: () => number
  /** What was really done, for the figures. */
  readonly note: (what: string) => void
}

/** Does it, and leaves everything healed and running. False if it did not come about. */
export async function makeFault(fault: Fault, maker: FaultMaker): Promise<boolean> {
  const { fleet, random } = maker
  switch (fault) {
    case 'killed at a random moment':
      return killSome(maker)
    case 'killed at a named place':
      return killAtPlace(maker)
    case 'silent':
    case 'silent one way':
    case 'silent, and killed':
      return silence(fault, maker)
    case 'late by 20 ms each way':
    case 'late by 80 ms each way':
      return slowDown(fault === 'late by 20 ms each way' ? 20 : 80, maker)
    case 'cut at a commit':
      return cut(maker)
    case 'most datacenters vanish': {
      const gone = rotated(SITES, random).slice(1)
      const lost = gone.flatMap((name) => fleet.at(name))
      await loseAll(lost, LEASE_MS + 500 + random() * 1500)
      maker.note('killed: all workers of two datacenters at once')
      return true
    }
    case 'no process at all':
      await loseAll(fleet.members, 500 + random() * 3000)
      maker.note('killed: every process at once')
      return true
  }
}

async function killSome({ fleet, random, note }: FaultMaker): Promise<boolean> {
  const member = pick(fleet.members, random)
  if (!member.isRunning) return false
  note(`killed: a ${fleet.submitters.includes(member) ? 'submitter' : 'worker'} at a random moment`)
  await member.kill()
  // Back at once, or after its lease.
  if (random() < 0.3) await delay(random() * 2 * LEASE_MS)
  member.start()
  return true
}

async function killAtPlace({ fleet, random, note }: FaultMaker): Promise<boolean> {
  const worker = pick(fleet.workers, random)
  const [place, moment] = [pick(PLACES, random), pick(KILL_MOMENTS, random)]
  const isReached = await worker.killAt([place, moment], MOST_TO_PLACE_MS)
  if (isReached) note(`killed: ${moment} the ${place}`)
  worker.start()
  return isReached
}

async function silence(fault: Fault, { fleet, random, note }: FaultMaker): Promise<boolean> {
  const site = pick(SITES, random)
  const workers = fleet.at(site)
  for (const { proxy } of workers) proxy.silenceAll(fault === 'silent one way' ? 'answers' : 'both')
  // Shorter and longer than the lease.
  await delay(300 + random() * 1.7 * LEASE_MS)
  if (fault === 'silent, and killed') {
    const worker = pick(workers, random)
    await worker.kill()
    note('killed: a worker that was cut off')
    await delay(random() * 500)
    worker.start()
  }
  const how = random() < 0.5 ? 'late' : 'reset'
  for (const { proxy } of workers) proxy.heal(how)
  note(`partition: ${fault === 'silent one way' ? 'one way' : 'both ways'}, healed ${how}`)
  return true
}

async function slowDown(delayMs: number, { fleet, random, note }: FaultMaker): Promise<boolean> {
  const workers = fleet.at(pick(SITES, random))
  for (const { proxy } of workers) proxy.delayMs = delayMs
  await delay(500 + random() * 1500)
  for (const { proxy } of workers) proxy.delayMs = 0
  note(`partition: ${delayMs} ms each way`)
  return true
}

async function cut({ fleet, random, note }: FaultMaker): Promise<boolean> {
  const { proxy } = pick(fleet.workers, random)
  const moment = pick(CUT_MOMENTS, random)
  const done = proxy.cutAtCommit(moment, 1 + Math.floor(random() * 6)).then(() => true)
  const isCut = await Promise.race([done, delay(MOST_TO_COMMIT_MS).then(() => false)])
  if (isCut) note(`partition: cut ${moment} a commit`)
  return isCut
}

async function loseAll(members: readonly Member[], awayMs: number): Promise<void> {
  await Promise.all(members.map((member) => member.kill()))
  await delay(awayMs)
  for (const member of members) member.start()
}

export function pick<T>(all: readonly T[], random: () => number): T {
  const one = all[Math.floor(random() * all.length)]
  if (one === undefined) throw new RangeError('There is nothing to choose from')
  return one
}

function rotated<T>(all: readonly T[], random: () => number): readonly T[] {
  const at = Math.floor(random() * all.length)
  return [...all.slice(at), ...all.slice(0, at)]
}
