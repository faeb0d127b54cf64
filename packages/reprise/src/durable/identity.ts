/**
 * Which process this is, and whether another one of this machine still lives. A pid alone says nothing: it is used
 * again. The start time of the process tells two apart, the boot and the space of pids tell whether pids compare.
 * Imports Node and the ledger's types.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Ledger } from '../ledger/ledger.js'
import type { OwnerIdentity, OwnerRecord } from '../ledger/records.js'

export type Identity = Omit<OwnerRecord, 'startedAtMs' | 'leaseUntilMs' | 'leaseMs' | 'slots' | 'running' | 'queues'>

export function ownIdentity(about: OwnerIdentity = {}): Identity {
  return {
    ...about,
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    processStart: processStart(process.pid) ?? String(Math.round(performance.timeOrigin)),
    bootId: `${firstLine('/proc/sys/kernel/random/boot_id')}/${pidSpace()}`,
  }
}

/**
 * Whether that process lives, is certainly gone, or cannot be seen from here. Of a ledger that spans one machine another
 * boot is an earlier one; of one that spans many, it may be another machine of the same name.
 */
export function lifeOf(owner: OwnerRecord, self: Identity, spans: Ledger['spans']): 'alive' | 'gone' | 'unseen' {
  if (owner.host !== self.host) return 'unseen'
  const [boot] = owner.bootId.split('/')
  const [ownBoot] = self.bootId.split('/')
  const isUnknown = boot === '' || ownBoot === '' || spans === 'network'
  if (boot !== ownBoot) return isUnknown ? 'unseen' : 'gone'
  if (owner.bootId !== self.bootId) return 'unseen'
  if (!exists(owner.pid)) return 'gone'
  const start = processStart(owner.pid)
  if (start === undefined) return 'unseen'
  // It has ended, and nobody has asked how: usual in containers without an init.
  if (isZombie(owner.pid)) return 'gone'
  return start === owner.processStart ? 'alive' : 'gone'
}

/** Whether the process that this identity, as JSON, is of is certainly gone from this machine. */
export function isProcessGone(identity: string): boolean {
  try {
    const owner = { ...(JSON.parse(identity) as Identity), startedAtMs: 0, leaseUntilMs: 0 }
    return lifeOf(owner, ownIdentity(), 'machine') === 'gone'
  } catch {
    // It was cut off while it was written.
    return true
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process is a process.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function processStart(pid: number): string | undefined {
  return processFields(pid)?.[19]
}

function isZombie(pid: number): boolean {
  return /^[ZX]$/i.test(processFields(pid)?.[0] ?? '')
}

/** Where the system tells: from the third field on, counted behind the name, which may contain anything. */
function processFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function pidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

function firstLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}
