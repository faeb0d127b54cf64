/**
 * Which commands belong to an agent: a process that executes items of a run and does not conduct it. A resume ends what
 * the last conductor left running, and must leave alone what living agents run. The mark is in the environment of every
 * command of an agent, and in the note of its group, since a command may clear its environment.
 *
 * Invariant: a mark names a process by pid, start, boot and space of pids, so it does not outlive the agent. Imports the
 * process table.
 */
import { pidSpace, processStart } from './process-table.js'

const NAME = 'REPRISE_AGENT'

let own: string | undefined

/** All commands that this process starts from now on are an agent's. */
export function beAgent(): void {
  own ??= `${process.pid} ${processStart(process.pid) ?? ''} ${pidSpace()}`
}

/** What the commands of this process carry; undefined unless it is an agent. */
export function agentMark(): string | undefined {
  return own
}

/** For the environment of a command. */
export function agentVariables(): Readonly<Record<string, string>> {
  return own === undefined ? {} : { [NAME]: own }
}

/** The mark in an environment, as `NAME=value` entries. */
export function markIn(environment: readonly string[]): string | undefined {
  return environment.find((entry) => entry.startsWith(`${NAME}=`))?.slice(NAME.length + 1)
}

/** Whether the mark is that of an agent that lives, as far as can be seen: one in another space of pids cannot. */
export function isOfLivingAgent(mark: string | undefined): boolean {
  if (mark === undefined) return false
  const [pid, start, ...space] = mark.split(' ')
  if (start === '' || space.join(' ') !== pidSpace()) return true
  return processStart(Number(pid)) === start
}
