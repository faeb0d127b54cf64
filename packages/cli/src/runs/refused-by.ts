/** Why a run is not resumed, as the error that ends the command. Imports types and its own directory. */
import { describeDifference, type Refusal, type ResumeChoices } from '@reprise/workflow/internal'
import { RefusedError } from '../failures.js'

/** The first names the kind; all are told. `choices`: what the refused command was given. */
export function refusedBy(
  refusals: readonly Refusal[],
  run: string,
  choices: Partial<ResumeChoices> = {},
): RefusedError {
  const [first] = refusals as readonly [Refusal, ...Refusal[]]
  const details = refusals.flatMap((refusal, index) => [
    ...(index === 0 ? [] : [refusal.message]),
    ...(refusal.differences ?? []).map(describeDifference),
    ...(refusal.faults ?? []),
  ])
  const next = nextOf(refusals, run, choices)
  return new RefusedError({ kind: first.kind, message: first.message, details, next })
}

/** The refused command with every flag that is missing; where no flag helps, what to look at. */
function nextOf(refusals: readonly Refusal[], run: string, given: Partial<ResumeChoices>): (readonly string[])[] {
  const isCurable = refusals.every(({ answers }) => answers.length > 0)
  const choices = isCurable ? Math.max(...refusals.map(({ answers }) => answers.length)) : 0
  const commands = Array.from({ length: choices }, (_, choice) => {
    const missing = refusals.map(({ answers }) => answers[choice] ?? answers[0] ?? {})
    const cure = joined(missing)
    const known = withoutLimitOf(cure, given)
    // What is undecided is answered by a resume.
    const isAnswered = (cure.done ?? []).length > 0 || (cure.rerun ?? []).length > 0
    const from = isAnswered ? undefined : (cure.from ?? given.from)
    const start = from === undefined ? ['resume', run] : ['rerun', run, '--from', from]
    return [...start, ...flagsOf(known), ...flagsOf(cure)]
  })
  const letters = refusals.some(({ hasLetters }) => hasLetters === true) ? [['dlq', 'retry', run]] : []
  const decide = [
    ['dlq', 'decide', run, '--done'],
    ['dlq', 'decide', run, '--rerun'],
  ]
  const decisions = refusals.some(({ hasUndecidedItems }) => hasUndecidedItems === true) ? decide : []
  return [...refusals.flatMap((refusal) => lookAt(refusal, run)), ...letters, ...decisions, ...commands]
}

/** What several refusals ask for, each flag once. */
function joined(answers: readonly Partial<ResumeChoices>[]): Partial<ResumeChoices> {
  return {
    ...Object.assign({}, ...answers),
    done: [...new Set(answers.flatMap(({ done = [] }) => done))],
    rerun: [...new Set(answers.flatMap(({ rerun = [] }) => rerun))],
  }
}

/** A limit of the cure takes the place of the one that was refused. */
function withoutLimitOf(cure: Partial<ResumeChoices>, given: Partial<ResumeChoices>): Partial<ResumeChoices> {
  const { maxFailures: _refused, ...others } = given
  return cure.maxFailures === undefined ? given : others
}

/** Commands that show why. */
function lookAt({ kind, answers, breakers = [], isBudgetEmpty = false }: Refusal, run: string): (readonly string[])[] {
  if (breakers.length > 0) return [['breakers', 'list'], ...breakers.map((name) => ['breakers', 'reset', name])]
  if (isBudgetEmpty) return [['budgets', 'list']]
  if (kind === 'locked') return [['watch', run]]
  if (kind === 'inconsistent') return [['doctor']]
  return kind === 'not_possible' && answers.length === 0 ? [['show', run]] : []
}

/** The choices as they are typed. */
function flagsOf(choices: Partial<ResumeChoices>): string[] {
  const { resetRetries, acceptChanges, done = [], rerun = [], force, maxFailures, maxParallel } = choices
  return [
    ...(resetRetries ? ['--reset-retries'] : []),
    ...(acceptChanges ? ['--accept-changes'] : []),
    ...done.flatMap((step) => ['--done', step]),
    ...rerun.flatMap((step) => ['--rerun', step]),
    ...(force ? ['--force'] : []),
    ...(maxFailures === undefined ? [] : ['--max-failures', String(maxFailures)]),
    ...(maxParallel === undefined ? [] : ['--max-parallel', String(maxParallel)]),
  ]
}
