/**
 * A run with a map, executed by the command line, and agents beside it, each a process with a name that its items note.
 * Imports the command-line fixture and the library.
 */
import type { AttemptRow, TaskRecord } from 'reprise/durable'
import { CliFixture, type Going, until } from '../workflow/cli-fixture.js'

export const RUN = 'r1'
export const MAP = `${RUN}/map`

/** Shell text: which process began which attempt of which item. */
export const NOTE = 'echo "$WHO $REPRISE_ITEM_KEY $REPRISE_ATTEMPT" >> starts'

/**
 * Shell text of an item: in an agent it lasts until the file `go` is there. In another process it lasts until the file
 * `joined` is there, and leaves agents room soon after that: all items together take longer than an agent waits between two
 * looks.
 */
export const HELD_WORK =
  'case $WHO in agent*) until test -e go; do sleep 0.02; done;; *) until test -e joined; do sleep 0.02; done; sleep 0.3;; esac'

export interface Noted {
  readonly who: string
  readonly item: string
  readonly attempt: number
}

export class AgentsFixture extends CliFixture {
  /** A command of this process notes its name. */
  as(who: string, ...args: string[]): Going {
    this.env['WHO'] = who
    return this.start(...args)
  }

  conductor(...args: string[]): Going {
    return this.as('conductor', 'run', 'workflow.yaml', '--run-id', RUN, ...args)
  }

  agent(who: string, ...args: string[]): Going {
    return this.as(who, 'agent', RUN, ...args)
  }

  /** Agents, each of which runs at least one item. */
  async agentsWithItems(names: readonly string[], ...args: string[]): Promise<Going[]> {
    const agents = names.map((who) => this.agent(who, '--parallel', '4', ...args))
    for (const agent of agents) await this.hasSaid(agent, 'Running items of')
    this.write('joined', '')
    for (const [index, agent] of agents.entries()) await this.hasBegun(names[index] ?? '', agent)
    return agents
  }

  /** One agent, as above. */
  async agentWithItem(who: string, ...args: string[]): Promise<Going> {
    for (const agent of await this.agentsWithItems([who], ...args)) return agent
    throw new Error('there is no agent')
  }

  starts(): Noted[] {
    const lines = this.read('starts').split('\n').slice(0, -1)
    return lines.map((line) => {
      const [who = '', item = '', attempt] = line.split(' ')
      return { who, item, attempt: Number(attempt) }
    })
  }

  startsOf(who: string): Noted[] {
    return this.starts().filter((start) => start.who === who)
  }

  /** Waits until the process has begun so many items. */
  async hasBegun(who: string, going: Going, count = 1): Promise<void> {
    await until(
      () => this.startsOf(who).length >= count,
      () => `${count} items of ${who}, which said ${going.said()}`,
      going,
    )
  }

  async hasSaid(going: Going, text: string): Promise<void> {
    await until(
      () => going.said().includes(text),
      () => `${text}; it said ${going.said()}`,
      going,
    )
  }

  /** The run is there, and its map has begun. */
  async isServed(conductor: Going): Promise<void> {
    await this.hasBegun('conductor', conductor)
  }

  items(): Promise<readonly TaskRecord[]> {
    return this.ledger((ledger) => ledger.list({ scopeKind: 'run', scope: MAP }))
  }

  attempts(): Promise<readonly AttemptRow[]> {
    return this.ledger((ledger) => ledger.attemptsOfRun(MAP))
  }
}
