/** A plan's fingerprint is that of what the document says: not of its order, its comments, its layout. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { WORKFLOW } from '../../packages/workflow/src/document/fields-document.js'
import { InputError } from '../../packages/workflow/src/document/problem.js'
import { parseSource } from '../../packages/workflow/src/document/source.js'
import { fingerprintOf } from '../../packages/workflow/src/plan/build-plan.js'
import { differencesOf } from '../../packages/workflow/src/plan/differences.js'
import type { Plan } from '../../packages/workflow/src/plan/plan.js'
import { planFromDocument, planOf } from '../../packages/workflow/src/plan/plan-of.js'
import { BLIND_READERS } from '../../packages/workflow/src/plan/readers.js'
import { documentOf } from './document-chance.js'

const PATIENCE_MS = 60_000
const RUNS = { numRuns: 40 }

const plan = (text: string): Plan => planOf(parseSource('f.yaml', text), BLIND_READERS)

/** Undefined where what no table can say is not so: a name that is not declared. */
function planIfRight(document: unknown): Plan | undefined {
  try {
    return plan(JSON.stringify(document))
  } catch (error) {
    if (error instanceof InputError) return undefined
    throw error
  }
}

const plans = documentOf(WORKFLOW, 1_000_000)
  .map(planIfRight)
  .filter((made) => made !== undefined)

/** The same value with the keys of its maps in another order. */
function shuffled(value: unknown, draw: () => number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, draw))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, shuffled(item, draw)])
  return Object.fromEntries(
    entries
      .map((entry) => [draw(), entry] as const)
      .toSorted(([a], [b]) => a - b)
      .map(([, entry]) => entry),
  )
}

test(
  'neither the order of keys nor comments nor layout change the plan',
  () => {
    fc.assert(
      fc.property(
        plans,
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        fc.boolean(),
        (made, chance, isFlow) => {
          const draw = (): number => chance.next().value as number
          const text = stringify(shuffled(made.document, draw), {
            version: '1.2',
            collectionStyle: isFlow ? 'flow' : 'block',
            lineWidth: 0,
            aliasDuplicateObjects: false,
          })
          const commented = isFlow
            ? `# a comment\n${text}\n# another\n`
            : text.replaceAll(/^(\w+:)$/gm, '$1 # a comment')
          const again = plan(commented.replaceAll('\n', isFlow ? '\r\n' : '\n'))
          expect(again.fingerprint).toBe(made.fingerprint)
          expect(differencesOf(made, again)).toEqual([])
        },
      ),
      RUNS,
    )
  },
  PATIENCE_MS,
)

test(
  'plans that differ have fingerprints that differ',
  () => {
    fc.assert(
      fc.property(plans, plans, (one, other) => {
        if (differencesOf(one, other).length > 0) expect(one.fingerprint).not.toBe(other.fingerprint)
      }),
      RUNS,
    )
  },
  PATIENCE_MS,
)

/** Every value of a document, with the document that has another one in its place. */
function changesOf(document: unknown): unknown[] {
  if (Array.isArray(document)) {
    const removed = document.map((_, index) => document.toSpliced(index, 1))
    const inner = document.flatMap((item, index) => changesOf(item).map((changed) => document.with(index, changed)))
    return [...removed, ...inner]
  }
  if (typeof document !== 'object' || document === null) return [typeof document === 'string' ? `${document}x` : 'x']
  return Object.entries(document).flatMap(([key, value]) => {
    const { [key]: _, ...without } = document as Record<string, unknown>
    return [without, ...changesOf(value).map((changed) => ({ ...document, [key]: changed }))]
  })
}

test('every single change of a document changes its fingerprint', () => {
  const document: unknown = parse(`
name: n
params: {a: 1, b: {c: [1, 2]}}
env: {A: x}
secrets: [S]
retry_defaults: {attempts: 3, on_failure: continue}
breakers: {w: {failure_threshold: 3}}
budgets: {api: {type: count, total: 3}}
claude_program: c
steps:
  - {id: a, name: A, shell: x, when: a, capture: o, capture_format: json, env: {B: y}, working_dir: d, timeout: 5s}
  - {http: {url: 'http://a', headers: {h: v}, body: {k: [1]}, expect: {status: [200]}}, retry: {breaker: w, budget: api}}
  - {script: {module: m, export: e, with: {z: null}}, on_interrupt: {verify: [v, w]}}
  - {write_file: {path: p, content: c, mode: '0644'}, retry: {retry_on: [{exit_code: [1]}], backoff: {linear: {increment: 2s}}}}
`)
  const original = fingerprintOf(document as never)
  const changed = changesOf(document)
  expect(changed.length).toBeGreaterThan(80)
  for (const other of changed) expect(fingerprintOf(other as never)).not.toBe(original)
})

test(
  'a plan is made again from the document that it kept',
  () => {
    fc.assert(
      fc.property(plans, (made) => {
        const kept = JSON.parse(JSON.stringify(made.document)) as never
        expect(planFromDocument(kept, made.file, BLIND_READERS)).toEqual(made)
      }),
      RUNS,
    )
  },
  PATIENCE_MS,
)
