/** What a workflow would run, without running it. Imports the explanation of policies and output. */
import type { Plan, StepPlan } from '@reprise/workflow'
import { fillKnown, plural, roundedDuration, stepsOf } from '@reprise/workflow/internal'
import { normalizePolicy } from 'reprise'
import type { Json } from 'reprise/durable'
import { plainText } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'
import { fitTableWithIds, type FittedColumn } from '../output/fitted-table.js'
import { flatText } from '../output/flat-text.js'
import { lookFor } from '../output/look.js'
import { wrapText } from '../output/wrap.js'
import { writePage } from '../output/github-commands.js'

/** `given`: the parameters that were given; they stand for their defaults, also in what the steps do. */
export function showPlan(plan: Plan, given: Readonly<Record<string, Json>>, { world, settings }: CommandContext): void {
  const { name, file, secrets, fingerprint } = plan
  const params = { ...plan.params, ...given }
  const steps = stepsOf(plan).map((step): StepPlan => ({ ...step, action: filled(step.action, params) }))
  if (settings.json) return writeJson(world.stdout, { name, file, fingerprint, params, secrets, steps })
  const look = lookFor(world, settings)
  const ids: FittedColumn<StepPlan>[] = [{ title: 'step', cell: ({ id }) => plainText(id) }]
  const columns: FittedColumn<StepPlan>[] = [
    { title: 'does', cell: (step) => plainText(actionText(step)), least: 16 },
    { title: 'attempts', align: 'right', cell: attemptsText, expendable: 2 },
    { title: 'if it fails', cell: failureText, expendable: 1 },
  ]
  const lines = [
    ...wrapText('', `${plainText(name)}: ${plural(plan.phases.length, 'step')}, nothing is run`, look.screen),
    ...(Object.keys(params).length === 0 ? [] : wrapText('  ', `with ${flatText(params)}`, look.screen)),
    '',
    ...fitTableWithIds(ids, columns, steps, look),
  ]
  writePage(world, `${lines.join('\n')}\n`)
}

function filled(action: StepPlan['action'], params: Readonly<Record<string, Json>>): StepPlan['action'] {
  return fillKnown(action as unknown as Json, params) as unknown as StepPlan['action']
}

const MAX_TEXT = 60

function actionText({ action, when }: StepPlan): string {
  const text = actionWords(action).replaceAll(/\s+/g, ' ').trim()
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text
  return when === null ? cut : `${cut}  when ${when}`
}

function actionWords(action: StepPlan['action']): string {
  switch (action.kind) {
    case 'shell':
      return action.command
    case 'run':
      return action.argv.join(' ')
    case 'http':
      return `${action.method} ${action.url}`
    case 'script':
      return `script ${action.module}`
    case 'claude':
      return `claude ${action.prompt}`
    case 'write_file':
      return `write ${action.path}`
  }
}

function attemptsText({ policy }: StepPlan): string {
  const { attempts, attemptTimeoutMs } = normalizePolicy(policy).policy
  return attemptTimeoutMs === undefined ? String(attempts) : `${attempts}, ${roundedDuration(attemptTimeoutMs)} each`
}

function failureText({ onFailure }: StepPlan): string {
  return typeof onFailure === 'string' ? onFailure : 'fallback'
}
