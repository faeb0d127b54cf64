/** What actions need of the world beside their context: injected, so that each can be run alone. Imports types only. */
import type { Command, CommandEnd } from '../process/command.js'
import type { ScriptPool } from './script-pool.js'

type RunCommand = (command: Command) => Promise<CommandEnd>

/** `what` names what could not be started. */
type FailureOfCommand = (end: CommandEnd, what: string) => Error

export interface StepTools {
  readonly runCommand: RunCommand
  readonly failureOfCommand: FailureOfCommand
  readonly scripts: ScriptPool
  /** Names that the document gives to values, whether or not they have one yet; others are the shell's own. */
  readonly isKnown: (name: string) => boolean
}
