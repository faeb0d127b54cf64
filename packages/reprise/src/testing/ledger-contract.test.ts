/** The contract finds out ledgers that do not keep it: every one here is wrong in one way. */
import { describe, expect, it } from 'vitest'
import { MemoryLedger } from '../ledger/memory-ledger.js'
import { ledgerContract } from './ledger-contract.js'
import { clockReading } from '../../../../test/clock-reading.js'

/** The names of the cases that a ledger spoilt so does not pass. */
async function failedBy(spoil: (ledger: MemoryLedger) => void): Promise<string[]> {
  const cases = ledgerContract(async () => {
    let now = 0
    const ledger = new MemoryLedger({ clock: clockReading(() => now) })
    spoil(ledger)
    return { ledger, setTime: (ms) => void (now = ms) }
  })
  const failed = await Promise.all(
    cases.map(async ({ name, run }) => {
      try {
        await run()
        return []
      } catch {
        return [name]
      }
    }),
  )
  return failed.flat()
}

/** What it answers instead. */
const instead = <V extends keyof MemoryLedger>(verb: V, change: (answer: never, ...args: never[]) => unknown) => {
  return (ledger: MemoryLedger): void => {
    const call = (ledger[verb] as (...args: unknown[]) => Promise<never>).bind(ledger)
    const spoilt = async (...args: never[]): Promise<unknown> => change(await call(...args), ...args)
    Object.assign(ledger, { [verb]: spoilt })
  }
}

const SPOILT: Readonly<Record<string, (ledger: MemoryLedger) => void>> = {
  'forgets a field': instead('get', (task: object | undefined) => task && { ...task, input: null }),
  'forgets attempts': instead('attempts', () => []),
  'forgets gates': instead('gates', () => []),
  'forgets checkpoints': instead('checkpoint', () => undefined),
  'forgets dead letters': instead('deadLetters', () => []),
  'leaves dead letters open': instead('deadLetters', (letters: { closed?: unknown }[]) =>
    letters.map(({ closed: _closed, ...letter }) => letter),
  ),
  'forgets events': instead('events', () => []),
  'gives events again': (ledger) => {
    const events = ledger.events.bind(ledger)
    ledger.events = (_after, limit) => events(0, limit)
  },
  'forgets policies': instead('policy', () => undefined),
  'does not see a conflict': instead('create', (made: { task: object }[]) =>
    made.map((one) => ({ ...one, type: 'created' })),
  ),
  'hands out more than asked for': (ledger) => {
    const claim = ledger.claim.bind(ledger)
    ledger.claim = (request, decide) => claim({ ...request, limit: 99 }, decide)
  },
  'hands out tasks of other policies': (ledger) => {
    const claim = ledger.claim.bind(ledger)
    const queues = [{ queue: 'mail', policyHash: 'p1' }]
    ledger.claim = (request, decide) => claim({ ...request, queues }, decide)
  },
  'says that nothing is due': instead('nextDueAtMs', () => null),
  'has a clock of its own': instead('now', () => 1),
  'keeps owners for ever': (ledger) => void (ledger.removeOwner = async () => undefined),
  'does not page': (ledger) => {
    const list = ledger.list.bind(ledger)
    ledger.list = ({ after: _after, ...filter }) => list(filter)
  },
  'forgets what is not finished': (ledger) => {
    const forget = ledger.forget.bind(ledger)
    ledger.forget = (request) => forget({ ...request, beforeMs: Infinity })
  },
  'does not commit': (ledger) => {
    const transact = ledger.transact.bind(ledger)
    ledger.transact = (keys, decide) => transact(keys, (view) => ({ result: decide(view).result }))
  },
  'swallows what the deciding function throws': (ledger) => {
    const transact = ledger.transact.bind(ledger)
    ledger.transact = (keys, decide) => transact(keys, decide).catch(() => undefined as never)
  },
}

describe('the contract', () => {
  it('is kept by a ledger that is right', async () => {
    expect(await failedBy(() => undefined)).toEqual([])
  })

  it.each(Object.entries(SPOILT))('finds out one that %s', async (_how, spoil) => {
    expect(await failedBy(spoil)).not.toEqual([])
  })
})
