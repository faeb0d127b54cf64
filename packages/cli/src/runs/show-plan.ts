/** What a workflow would run, without running it. Imports the explanation of policies and output. */
import type { Plan, StepPlan } from '@reprise/workflow'
import { normalizePolicy } from 'reprise'
import { plainText } from 'reprise/observe'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'
import { roundedDuration } from '../output/duration.js'
import { alignTable } from '../output/table.js'

export function showPlan(plan: Plan, { world, settings }: CommandContext): void {
  if (settings.json) {
    const { name, file, params, secrets, steps, fingerprint } = plan
    writeJson(world.stdout, { name, file, fingerprint, params, secrets, steps })
    return
  }
  const columns = [
    { title: 'step' },
    { title: 'does' },
    { title: 'attempts', align: 'right' as const },
    { title: 'if it fails' },
  ]
  const rows = plan.steps.map((step) => [
    plainText(step.id),
    plainText(actionText(step)),
    attemptsText(step),
    failureText(step),
  ])
  world.stdout.write(
    `${[`${plainText(plan.name)}: ${plan.steps.length} steps, nothing is run`, '', ...alignTable(columns, rows)].join('\n')}\n`,
  )
}

const MAX_TEXT = 60

export function actionText({ action, when }: StepPlan): string {
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
  return attemptTimeoutMs === undefined ? String(attempts) : `${attempts} of ${roundedDuration(attemptTimeoutMs)}`
}

function failureText({ onFailure }: StepPlan): string {
  return typeof onFailure === 'string' ? onFailure : 'fallback'
}
