/** Changes of one durable task of a program by hand. Imports the library and its own directory. */
import type { Ledger, TaskRecord } from 'reprise/durable'
import {
  type Actor,
  cancelTask,
  type LetterDecision,
  redriveLetters,
  startTaskEarly,
  type TaskControl,
} from 'reprise/internal'
import { OperationError } from '../operation-error.js'

/** A task as it was found: what is changed is that task, whatever has become of it since. */
type Found = Pick<TaskRecord, 'scopeKind' | 'scope' | 'id' | 'generation'>

/** Its next attempt starts at once. */
export async function retryTaskNow(ledger: Ledger, task: Found, actor: Actor): Promise<void> {
  const answer = await startTaskEarly(ledger, task, actor)
  if (answer.answer === 'unfit') throw unfit(task, `is ${answer.status}: only a task that waits can start early`)
  expectDone(task, answer)
}

/** False if it was cancelled before. */
export async function cancelDurableTask(ledger: Ledger, task: Found, actor: Actor): Promise<boolean> {
  const answer = await cancelTask(ledger, task, actor)
  if (answer.answer === 'unfit' && answer.status === 'cancelled') return false
  if (answer.answer === 'unfit') throw unfit(task, `has ${answer.status}: there is nothing to cancel`)
  expectDone(task, answer)
  return true
}

export async function decideDurableTask(
  ledger: Ledger,
  task: Found,
  decision: LetterDecision,
  actor: Actor,
): Promise<void> {
  const { scopeKind, scope, id, generation } = task
  const letter = { scopeKind, scope, id, generation }
  const [decided] = await redriveLetters(ledger, [letter], { ...actor, decision })
  if (decided?.answer === 'redriven') return
  if (decided?.answer === 'needs_program') throw needsProgram(task, 'has a group')
  throw unfit(task, 'is not undecided: there is nothing to decide')
}

function expectDone(task: Found, answer: TaskControl): void {
  switch (answer.answer) {
    case 'grouped':
      throw needsProgram(task, 'has a group')
    case 'granted':
      throw needsProgram(task, `has an attempt that budget ${answer.budget} has granted`)
    case 'not_found':
      throw new OperationError(
        'not_found',
        { code: 'unknown_task' },
        `There is no durable task ${nameOf(task)} any more.`,
      )
    default:
  }
}

function needsProgram(task: Found, why: string): OperationError {
  const message = `Durable task ${nameOf(task)} ${why}: only its program can do that.`
  return new OperationError('not_possible', { code: 'task_not_possible', task: nameOf(task) }, message)
}

function unfit(task: Found, why: string): OperationError {
  const message = `Durable task ${nameOf(task)} ${why}.`
  return new OperationError('not_possible', { code: 'task_not_possible', task: nameOf(task) }, message)
}

function nameOf({ scope, id }: Found): string {
  return `${scope}/${id}`
}
