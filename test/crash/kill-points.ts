/**
 * Named points at which a process ends itself as `kill -9` would: before, within and after the n-th use of a verb of its
 * ledger, and around the statements that begin and end a transaction. Imports the ledger's types and SQLite's handles.
 */
import type { Decided, Ledger, View } from '../../packages/reprise/src/ledger/ledger.js'
import { Handle, type SqliteDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { PrebuiltHandle } from '../../packages/reprise/src/sqlite/prebuilt-handle.js'

const LEDGER_VERBS = [
  'create',
  'transact',
  'claim',
  'nextDueAtMs',
  'heartbeat',
  'owners',
  'removeOwner',
  'get',
  'list',
  'gates',
  'now',
  'close',
] as const
const STATEMENTS = ['BEGIN', 'COMMIT'] as const

/** `within`: in the function that decides, so inside the transaction. */
export interface KillPoint {
  readonly verb: string
  readonly moment: 'before' | 'within' | 'after'
  readonly nth: number
}

export const KILL_POINTS: readonly Omit<KillPoint, 'nth'>[] = [
  ...[...LEDGER_VERBS, ...STATEMENTS].flatMap((verb) => [
    { verb, moment: 'before' as const },
    { verb, moment: 'after' as const },
  ]),
  { verb: 'transact', moment: 'within' },
  { verb: 'claim', moment: 'within' },
]

/** Counts what it is shown, and ends the process at its point. */
export class Doom {
  /** By point: how often it was passed. */
  readonly passed = new Map<string, number>()
  private readonly point: KillPoint | undefined

  constructor(point: KillPoint | undefined) {
    this.point = point
  }

  pass(verb: string, moment: KillPoint['moment']): void {
    const name = `${moment} ${verb}`
    const count = (this.passed.get(name) ?? 0) + 1
    this.passed.set(name, count)
    const { point } = this
    if (point?.verb !== verb || point.moment !== moment || point.nth !== count) return
    process.kill(process.pid, 'SIGKILL')
  }
}

type Verb = (...args: unknown[]) => Promise<unknown>
type Decide = (...args: [View & never]) => Decided<unknown>

export function doomed(ledger: Ledger, doom: Doom): Ledger {
  return new Proxy(ledger, {
    get: (target, verb: keyof Ledger) => {
      const value: unknown = target[verb]
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        doom.pass(verb, 'before')
        const given = verb === 'transact' || verb === 'claim' ? [args[0], within(verb, args[1] as Decide)] : args
        const answer = await (value.bind(target) as Verb)(...given)
        doom.pass(verb, 'after')
        return answer
      }
    },
  })

  function within(verb: string, decide: Decide): Decide {
    return (...args) => {
      const decided = decide(...args)
      doom.pass(verb, 'within')
      return decided
    }
  }
}

/** Transactions begin and end by `exec` of a handle, whichever driver is behind it. */
export function doomStatements(doom: Doom): void {
  for (const { prototype } of [Handle, PrebuiltHandle]) {
    const exec: (sql: string) => unknown = Reflect.get(prototype, 'exec')
    prototype.exec = function (this: SqliteDatabase, sql: string): unknown {
      const statement = STATEMENTS.find((name) => sql.startsWith(name))
      if (statement === undefined) return exec.call(this, sql)
      doom.pass(statement, 'before')
      const answer = exec.call(this, sql)
      doom.pass(statement, 'after')
      return answer
    }
  }
}
