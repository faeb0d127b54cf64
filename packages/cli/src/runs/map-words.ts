/** A map of a plan in words: its input, which items it takes, its limits, what failures mean. Imports the plan's types. */
import { type MapPlan, plural, roundedDuration, canonicalSortKey } from '@reprise/workflow/internal'
import { normalizePolicy } from 'reprise'

export function inputWords({ input }: MapPlan): string {
  switch (input.kind) {
    case 'file':
      return `${input.path}${input.format === null ? '' : ` as ${input.format}`}`
    case 'command':
      return `the output of ${input.action.kind === 'shell' ? input.action.command : input.action.argv.join(' ')}`
    case 'glob':
      return `the files ${input.patterns.join(', ')}`
    case 'stdin':
      return 'the standard input'
    case 'range':
      return `${input.from} to ${input.to}${input.step === 1 ? '' : ` in steps of ${input.step}`}`
    case 'product':
      return `every combination of ${plural(input.lists.length, 'list')}`
    case 'list':
      return `a list of ${input.items.length}`
    case 'value':
      return input.reference
  }
}

/** Which items are taken, and how many at a time. */
export function selectionWords({
  selection,
  maxParallel,
  rate,
  batch,
  isolation,
  policy,
  checkpoint,
}: MapPlan): string {
  const { jsonPath, filter, distinct, sortBy, offset, maxItems } = selection
  const { attemptTimeoutMs } = normalizePolicy(policy).policy
  return joined(
    jsonPath !== null && `items at ${jsonPath}`,
    filter !== null && `where ${filter}`,
    distinct !== null && `one for each ${distinct}`,
    sortBy.length > 0 && `by ${sortBy.map(canonicalSortKey).join(', ')}`,
    offset > 0 && `without the first ${offset}`,
    maxItems !== null && `at most ${plural(maxItems, 'item')}`,
    batch > 1 ? `${maxParallel} batches of up to ${batch} at a time` : `${maxParallel} at a time`,
    rate !== null && `${plural(rate.count, 'start')} in ${roundedDuration(rate.perMs)}`,
    attemptTimeoutMs !== undefined && `${roundedDuration(attemptTimeoutMs)} for an attempt`,
    isolation === 'directory' && 'an empty directory for each attempt',
    isolation === 'worktree' && 'a git worktree for each attempt, merged when it succeeds',
    checkpoint === 'step' && 'continues after the last finished step',
  )
}

const ACTIONS = { dlq: 'failed items are dead letters', skip: 'failed items are left', stop: 'a failed item stops it' }

/** What failures of items mean. */
export function errorWords({ errors, policy }: MapPlan): string {
  const { tolerate, maxFailures, failureThreshold, maxRetries, maxRetriesPerItem, haltOn } = errors
  const tolerated = tolerate === null ? null : 'count' in tolerate ? String(tolerate.count) : percentage(tolerate.share)
  return joined(
    `${plural(normalizePolicy(policy).policy.attempts, 'attempt')} of an item`,
    maxRetries !== null && `${plural(maxRetries, 'retry', 'retries')} for all items`,
    maxRetriesPerItem !== null && `${maxRetriesPerItem} of them for one`,
    ACTIONS[errors.onItemFailure],
    tolerated !== null && `up to ${tolerated} failed is a success`,
    maxFailures !== null && `failure ${maxFailures} stops it`,
    failureThreshold !== null && `more than ${percentage(failureThreshold)} failed stop it`,
    haltOn.length > 0 && `exit code ${haltOn.join(' or ')} stops it`,
    errors.halt === 'now' && 'what runs is aborted then',
  )
}

function percentage(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`
}

function joined(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join(' · ')
}
