/**
 * Who may import whom within the packages above the library, as a table. The library needs none: its layers are
 * projects of their own, and a wrong import does not compile there. ARCHITECTURE.md says why the tables are as they are.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, test } from 'vitest'

/** `node` is all of Node, `node:fs` one part of it. */
type Table = Readonly<Record<string, readonly string[]>>

const LIBRARY = ['reprise', 'reprise/core', 'reprise/durable', 'reprise/internal']

const WORKFLOW_PACKAGE = ['@reprise/workflow', '@reprise/workflow/internal']

const ADAPTERS = ['reprise/internal/sqlite', 'reprise/internal/postgres']

/** Data that several layers speak of: types, and words as constants. Whoever wants to may import them. */
const CONTRACTS = [
  'plan/plan.ts',
  'plan/map-plan.ts',
  'view/map-views.ts',
  'process/command.ts',
  'steps/step-context.ts',
  'run/run-event.ts',
  'run/run-record.ts',
  'view/views.ts',
]

/** In order: a layer imports only from those above it. */
const WORKFLOW: Table = {
  document: [...LIBRARY, 'yaml', 'node:fs', 'node:path'],
  plan: ['document', ...LIBRARY, 'node:path'],
  values: ['document', 'plan', ...LIBRARY, '@marcbachmann/cel-js'],
  items: ['document', 'plan', 'values', ...LIBRARY, 'node'],
  masking: [...LIBRARY],
  state: ['reprise', 'node'],
  process: ['state', 'reprise', 'node'],
  steps: ['values', ...LIBRARY, 'node'],
  view: ['plan', ...LIBRARY],
  workplaces: ['values', 'state', ...LIBRARY, 'node'],
  run: [
    ...['document', 'plan', 'values', 'items', 'masking', 'state', 'process', 'steps', 'view', 'workplaces'],
    ...LIBRARY,
    'node',
  ],
  words: [...LIBRARY],
  explain: ['plan', 'words', ...LIBRARY],
  simulate: [
    ...['document', 'plan', 'values', 'words', 'explain'],
    ...LIBRARY,
    ...['reprise/simulate', 'reprise/internal/simulate'],
  ],
  operate: [
    ...['document', 'plan', 'values', 'items', 'masking', 'state', 'view', 'run', 'words'],
    ...LIBRARY,
    ...ADAPTERS,
    'node',
  ],
}

const SIMULATION = ['reprise/simulate', 'reprise/internal/simulate']
const JOBS_PACKAGE = ['@reprise/jobs', '@reprise/jobs/internal']
const DASHBOARD_PACKAGE = ['@reprise/dashboard', '@reprise/dashboard/internal']
const PACKAGES = [
  ...[...LIBRARY, ...ADAPTERS, 'reprise/observe', ...SIMULATION],
  ...[...WORKFLOW_PACKAGE, ...JOBS_PACKAGE, ...DASHBOARD_PACKAGE],
]

/** In order: a layer imports only from those above it. `rules` has no clock, no randomness and no files. */
const JOBS: Table = {
  rules: [...LIBRARY],
  document: ['rules', ...LIBRARY, ...WORKFLOW_PACKAGE, 'node'],
  record: ['rules', ...LIBRARY],
  drive: ['rules', 'record', ...LIBRARY],
  submit: ['rules', 'record', 'drive', ...LIBRARY, 'node:crypto'],
  work: ['rules', 'record', 'drive', 'submit', ...LIBRARY, ...WORKFLOW_PACKAGE, 'node'],
  view: ['rules', 'record', 'drive', 'submit', ...LIBRARY],
  routes: ['rules', 'drive', 'submit', 'view', ...LIBRARY, '@reprise/workflow/internal'],
}

const DASHBOARD: Table = {
  serve: [
    ...[...LIBRARY, 'reprise/observe', ...WORKFLOW_PACKAGE, ...JOBS_PACKAGE],
    ...['hono/tiny', '@hono/node-server', 'node'],
  ],
}

/** `frame` are the files beside the directories. */
const COMMAND_LINE: Table = {
  templates: [],
  completion: ['frame', ...PACKAGES, 'node:fs'],
  input: ['frame', ...PACKAGES],
  output: ['frame', ...PACKAGES, 'node'],
  runs: ['input', 'output', 'frame', ...PACKAGES, 'node'],
  commands: ['templates', 'completion', 'input', 'output', 'runs', 'frame', ...PACKAGES, 'node'],
}

interface Import {
  readonly from: string
  /** A file of the same package, or the name of another. */
  readonly to: string
  readonly isType: boolean
  /** When the line is reached, and not when the file is loaded. */
  readonly isLate: boolean
}

const root = fileURLToPath(new URL('../../packages/', import.meta.url))

function importsOf(name: string): Import[] {
  const sources = path.join(root, name, 'src')
  return readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing'))
    .flatMap((file) => importsIn(file, readFileSync(path.join(sources, file), 'utf8')))
}

interface Node {
  readonly type: string
  readonly source?: { readonly value?: unknown } | null
  readonly importKind?: string
  readonly exportKind?: string
  readonly specifiers?: readonly { readonly importKind?: string }[]
}

function importsIn(file: string, text: string): Import[] {
  const found: Import[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const node = value as Node
    const target = node.source?.value
    if (typeof target === 'string' && /^(Import|Export)/.test(node.type)) {
      const isType = (node.importKind ?? node.exportKind) === 'type' || hasOnlyTypes(node)
      found.push({ from: file, to: resolved(file, target), isType, isLate: node.type === 'ImportExpression' })
    }
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseAst(text, { lang: 'ts' }))
  return found
}

/** `import { type A, type B }` leaves nothing to load. */
function hasOnlyTypes({ specifiers = [] }: Node): boolean {
  return specifiers.length > 0 && specifiers.every(({ importKind }) => importKind === 'type')
}

function resolved(file: string, target: string): string {
  if (!target.startsWith('.')) return target
  return path.posix.join(path.posix.dirname(file), target).replace(/\.js$/, '.ts')
}

const isFile = (target: string): boolean => target.endsWith('.ts')
const topOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : 'frame')
const shown = ({ from, to }: Import): string => `${from} imports ${to}`

function isAllowed(allowed: readonly string[], to: string): boolean {
  return allowed.includes(to) || (to.startsWith('node:') && allowed.includes('node'))
}

/** A table in which a layer names one below it would allow a circle. */
function circlesIn(table: Table): string[] {
  const layers = Object.keys(table)
  return layers.flatMap((layer, place) =>
    (table[layer] ?? []).filter((other) => layers.indexOf(other) >= place).map((other) => `${layer} names ${other}`),
  )
}

describe('the workflow package', () => {
  const imports = importsOf('workflow')
  const ofLayers = imports.filter(({ from }) => from !== 'index.ts' && from !== 'internal.ts')

  test('has the layers that the table names', () => {
    expect([...new Set(ofLayers.map(({ from }) => topOf(from)))].toSorted()).toEqual(Object.keys(WORKFLOW).toSorted())
    expect(circlesIn(WORKFLOW)).toEqual([])
  })

  test('imports in one direction', () => {
    const wrong = ofLayers.filter(({ from, to }) => {
      if (CONTRACTS.includes(to)) return false
      const layer = topOf(from)
      const other = isFile(to) ? topOf(to) : to
      return other !== layer && !isAllowed(WORKFLOW[layer] ?? [], other)
    })
    expect(wrong.map(shown)).toEqual([])
  })

  test('has contracts that import nothing but types, of the library and of each other', () => {
    const wrong = imports
      .filter(({ from }) => CONTRACTS.includes(from))
      .filter(({ to, isType }) => !isType || !(CONTRACTS.includes(to) || LIBRARY.includes(to)))
    expect(wrong.map(shown)).toEqual([])
  })

  test('does not load what explains, simulates and looks after runs where a program runs workflows', () => {
    const loaded = new Set(['index.ts'])
    for (const file of loaded)
      for (const { from, to, isType, isLate } of imports) if (from === file && !isType && !isLate) loaded.add(to)
    const layers = new Set([...loaded].filter(isFile).map(topOf))
    for (const layer of ['words', 'explain', 'simulate', 'operate']) expect([...layers]).not.toContain(layer)
    expect([...loaded]).not.toContain('reprise/simulate')
    expect([...layers]).toContain('run')
  })

  test('loads the language of conditions when a condition is read', () => {
    const loaded = imports.filter(({ to, isType }) => to === '@marcbachmann/cel-js' && !isType)
    expect(loaded.filter(({ isLate }) => !isLate).map(shown)).toEqual([])
    expect(loaded).not.toEqual([])
  })
})

describe('the jobs package', () => {
  const ofLayers = importsOf('jobs').filter(({ from }) => topOf(from) !== 'frame')

  test('has the layers that the table names', () => {
    expect([...new Set(ofLayers.map(({ from }) => topOf(from)))].toSorted()).toEqual(Object.keys(JOBS).toSorted())
    expect(circlesIn(JOBS)).toEqual([])
  })

  test('imports in one direction', () => {
    const wrong = ofLayers.filter(({ from, to }) => {
      const layer = topOf(from)
      const other = isFile(to) ? topOf(to) : to
      return other !== layer && !isAllowed(JOBS[layer] ?? [], other)
    })
    expect(wrong.map(shown)).toEqual([])
  })
})

describe('the dashboard package', () => {
  const ofLayers = importsOf('dashboard').filter(({ from }) => topOf(from) !== 'frame')

  test('has the layers that the table names, and imports in one direction', () => {
    expect([...new Set(ofLayers.map(({ from }) => topOf(from)))].toSorted()).toEqual(Object.keys(DASHBOARD).toSorted())
    const wrong = ofLayers.filter(({ from, to }) => {
      const layer = topOf(from)
      const other = isFile(to) ? topOf(to) : to
      return other !== layer && !isAllowed(DASHBOARD[layer] ?? [], other)
    })
    expect(wrong.map(shown)).toEqual([])
  })
})

describe('the command line', () => {
  const imports = importsOf('cli')

  test('has the parts that the table names', () => {
    const parts = new Set(imports.map(({ from }) => topOf(from)))
    expect([...parts].toSorted()).toEqual([...Object.keys(COMMAND_LINE), 'frame'].toSorted())
    expect(circlesIn(COMMAND_LINE)).toEqual([])
  })

  test('imports in one direction', () => {
    const wrong = imports.filter(({ from, to }) => {
      const unit = topOf(from)
      const other = isFile(to) ? topOf(to) : to
      return unit !== 'frame' && other !== unit && !isAllowed(COMMAND_LINE[unit] ?? [], other)
    })
    expect(wrong.map(shown)).toEqual([])
  })

  test('loads at every start only commander, the table of commands and files beside the directories', () => {
    const loaded = new Set(['main.ts', 'program.ts'])
    const packages = new Set<string>()
    for (const file of loaded) {
      for (const { from, to, isType, isLate } of imports) {
        if (from !== file || isType || isLate) continue
        if (isFile(to)) loaded.add(to)
        else packages.add(to)
      }
    }
    const others = [...loaded].filter(
      (file) => file.includes('/') && !/^commands\/(command-table|table\/[\w-]+)\.ts$/.test(file),
    )
    expect(others).toEqual([])
    // Of the workflow package the table of policy fields, and nothing else once it is built: `test/e2e/cli-start.test.ts`.
    const named = [...packages].filter((name) => !name.startsWith('node:'))
    expect(named.toSorted()).toEqual(['@reprise/workflow/internal', 'commander'])
  })

  test('loads a server where it serves, and in no other command', () => {
    const early = imports.filter(({ to, isType, isLate }) => to.startsWith('@reprise/dashboard') && !isType && !isLate)
    expect(early.map(shown)).toEqual([])
    const late = imports.filter(({ to, isLate }) => to.startsWith('@reprise/dashboard') && isLate)
    expect([...new Set(late.map(({ from }) => from))].toSorted()).toEqual(['commands/gate.ts', 'runs/metrics-port.ts'])
    expect(importsOf('jobs').filter(({ to }) => to.startsWith('node:http') || to.startsWith('hono'))).toEqual([])
  })

  test('names a command in the table by a late import alone', () => {
    const early = imports.filter(
      ({ from, to, isType, isLate }) =>
        from.startsWith('commands/table/') &&
        to.startsWith('commands/') &&
        !to.startsWith('commands/table/') &&
        !isType &&
        !isLate,
    )
    expect(early.map(shown)).toEqual([])
  })
})

test('an import is found however it is written, with what it loads and when', () => {
  const text = `
import type { A } from './a.js'
import { type B } from '../b.js'
import { c, type D } from 'node:fs'
export { e } from './e.js'
const f = () => import('./f.js')
`
  expect(importsIn('x/y.ts', text)).toEqual([
    { from: 'x/y.ts', to: 'x/a.ts', isType: true, isLate: false },
    { from: 'x/y.ts', to: 'b.ts', isType: true, isLate: false },
    { from: 'x/y.ts', to: 'node:fs', isType: false, isLate: false },
    { from: 'x/y.ts', to: 'x/e.ts', isType: false, isLate: false },
    { from: 'x/y.ts', to: 'x/f.ts', isType: false, isLate: true },
  ])
})
