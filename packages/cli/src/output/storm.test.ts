import type { SimulatedPolicy, Simulation } from '@reprise/workflow/internal'
import { completeScenario } from 'reprise/internal/simulate'
import { expect, test } from 'vitest'
import { drawLoad, type LoadOverTime } from './chart.js'
import { type Display, displayFor } from './display.js'
import { pictured } from './pictured.js'
import { showSimulation } from './simulation.js'
import { PLAIN, styleFor } from './style.js'
import { stormTable } from './storm-table.js'
import { drawStorm } from './svg.js'
import { tag, xmlText } from './xml.js'

const display: Display = {
  ...{ style: PLAIN, screen: 80, width: 80, bars: false, blocks: false, quiet: false, verbose: false },
}
// oxlint-disable-next-line no-control-regex -- it is the control that is looked for
const COLOURS = /\u001b\[\d+m/g
const COLOURED = styleFor('always', { write: () => true }, {})

/** 180 s, of which 30 from the 30th on are the fault. */
function seconds(before: number, during: number, after: number): number[] {
  return Array.from({ length: 180 }, (_, second) => (second < 30 ? before : second < 60 ? during : after))
}

function policyWith(changes: Partial<SimulatedPolicy> = {}): SimulatedPolicy {
  return {
    ...{ name: 'yours', title: 'f.yaml', isSubject: true, calls: 135_000, attempts: 500_000 },
    ...{ goodput: null, wasted: 3.33, extra: 3.4, recoveryMs: null, backMs: null, parts: null },
    amplification: { worst: 9.081, mean: 4.962 },
    success: { total: 0.168, during: 0, after: 0, throughout: 0.168 },
    latencyMs: { p50: 16.2, p99: 4301 },
    seconds: { calls: seconds(750, 750, 750), attempts: seconds(750, 3800, 3700), useful: seconds(745, 0, 0) },
    ...changes,
  }
}

const CALM = policyWith({
  ...{ name: 'recommended', title: 'recommended (adaptiveBudget)', isSubject: false, wasted: 0, recoveryMs: 1000 },
  amplification: { worst: 0.99, mean: 0.45 },
  success: { total: 0.837, during: 0.01, after: 0.99988, throughout: 0.837 },
  seconds: { calls: seconds(750, 750, 750), attempts: seconds(750, 100, 750), useful: seconds(745, 0, 745) },
})

function simulationOf(policies: Simulation['policies']): Simulation {
  const scenario = completeScenario()
  return { scenario, seed: 1, summary: 'up to 5 attempts', policies, verdict: ['It collapses.'], notes: ['Mind this.'] }
}

// ── the chart ────────────────────────────────────────────────────────────────────────────────────

const STORM: LoadOverTime = {
  ...{ attempts: seconds(750, 3800, 3700), useful: seconds(745, 0, 0), offered: 750 },
  fault: { name: 'hang', from: 30, to: 60 },
}

test('the chart shows load, use, calls and the fault, in ASCII where blocks cannot be shown', () => {
  expect(drawLoad(STORM, display).join('\n')).toMatchInlineSnapshot(`
    "   4000 +            ::::::::::::
            |            :::::::::::::::::::::::::::::::::::::::::::::::::::::::::::
            |            :::::::::::::::::::::::::::::::::::::::::::::::::::::::::::
            |            :::::::::::::::::::::::::::::::::::::::::::::::::::::::::::
            |            :::::::::::::::::::::::::::::::::::::::::::::::::::::::::::
       2000 +            :::::::::::::::::::::::::::::::::::::::::::::::::::::::::::
            |            :::::::::::::::::::::::::::::::::::::::::::::::::::::::::::
            |            :::::::::::::::::::::::::::::::::::::::::::::::::::::::::::
            |-----------------------------------------------------------------------
            |############:::::::::::::::::::::::::::::::::::::::::::::::::::::::::::
          0 +------------=== hang ===-----------------------------------------------
             0s         30s         1m         1m30s       2m         2m30s       3m
             ## useful   :: attempts beyond that   -- calls offered   == hang"
  `)
})

test('blocks show parts of a cell', () => {
  const half = {
    ...STORM,
    attempts: seconds(100, 40, 100),
    useful: seconds(100, 35, 99),
    offered: 60,
    fault: undefined,
  }
  const lines = drawLoad(half, { ...display, blocks: true })
  expect(lines[0]).toMatch(/^ +100 ┤█+ +▇+$/)
  expect(lines.join('\n')).not.toContain('━')
  expect(lines.at(-1)).toBe('         ██ useful   ░░ attempts beyond that   ╌╌ calls offered')
})

test('no line of the chart is wider than the screen, and none loses its shape to colours', () => {
  for (const width of [40, 60, 80, 100, 200]) {
    const plain = drawLoad(STORM, { ...display, width })
    if (width >= 80) expect(Math.max(...plain.map((line) => line.length))).toBeLessThanOrEqual(Math.min(width, 100))
    const coloured = drawLoad(STORM, { ...display, width, style: COLOURED })
    const bare = coloured.map((line) => line.replaceAll(COLOURS, ''))
    expect(bare.map((line) => line.trimEnd())).toEqual(plain)
  }
})

test('a fault shorter than a column, and one that lasts to the end, are marked', () => {
  const mark = (from: number, to: number): string =>
    drawLoad({ ...STORM, fault: { name: 'hang', from, to } }, display)[10] ?? ''
  expect(mark(90, 90.1)).toMatch(/-=-/)
  expect(mark(170, 180)).toMatch(/=$/)
})

// ── the table ────────────────────────────────────────────────────────────────────────────────────

test('the policy under test is marked, and never stands out', () => {
  expect(stormTable([policyWith(), CALM], display).join('\n')).toMatchInlineSnapshot(`
    "                load   load   back  success  success  goodput  wasted   p99
      policy       worst   mean  after   in all    after    in it  / call
    > yours        9.08×  4.96×  NEVER   16.8 %      0 %        –    3.33  4.3s
      recommended  0.99×  0.45×     1s   83.7 %  99.98 %        –    0.00  4.3s"
  `)
  const coloured = stormTable([policyWith(), CALM], { ...display, style: COLOURED, blocks: true })
  expect(coloured[2]).toContain('▸')
  expect(coloured[2]).toContain('\u001b[31m\u001b[1mNEVER')
})

test('where there is space, titles stand beside the names', () => {
  expect(stormTable([CALM], { ...display, screen: 120 })[2]).toMatch(/recommended \(adaptiveBudget\)$/)
  expect(stormTable([CALM], { ...display, screen: 97 })[2]).not.toContain('adaptiveBudget')
})

// ── all of it ────────────────────────────────────────────────────────────────────────────────────

test('quiet is the table alone', () => {
  const simulation = simulationOf([policyWith(), CALM])
  const quiet = showSimulation(simulation, 'x', { ...display, quiet: true })
  expect(quiet).toBe(`${stormTable(simulation.policies, display).join('\n')}\n`)
  const whole = showSimulation(simulation, 'do this.', display)
  for (const part of ['hangs for 30s', quiet, 'It collapses.', 'note: Mind this.', 'next: do this.']) {
    expect(whole).toContain(part)
  }
})

test('text from a file never reaches the terminal as it is', () => {
  const evil = '\u001b]0;owned\u0007\u009b31m\u202e'
  const text = showSimulation(
    { ...simulationOf([policyWith({ title: evil })]), summary: evil, notes: [evil] },
    'x',
    display,
  )
  // oxlint-disable-next-line no-control-regex -- controls are what must not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
})

test.each([
  [{}, true],
  [{ LANG: 'C.UTF-8' }, true],
  [{ NO_COLOR: '1' }, true],
  [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
  [{ LC_CTYPE: 'de_DE.ISO-8859-1' }, false],
  [{ TERM: 'dumb' }, false],
  [{ CI: '1' }, false],
])('a terminal with %o: whether blocks can be shown is %s', (env, blocks) => {
  const settings = { json: false, quiet: false, verbose: false, color: 'auto', input: true } as const
  const output = { write: () => true, isTTY: true }
  const io = { stdin: (async function* (): AsyncGenerator<string> {})(), stdout: output, stderr: output, env }
  expect(displayFor(io, settings).blocks).toBe(blocks)
  expect(displayFor({ ...io, stdout: { write: () => true } }, settings).blocks).toBe(false)
})

// ── the picture ──────────────────────────────────────────────────────────────────────────────────

test('the picture has a panel for each policy, with its figures, and needs nothing from elsewhere', () => {
  const svg = drawStorm(simulationOf([policyWith(), CALM]))
  expect(svg.match(/class="attempts" d="M0 [\d.]+L/g)).toHaveLength(2)
  for (const part of ['▸ yours: f.yaml', 'peak 9.08×, mean 4.96×', 'never recovers', 'back after 1s', '4000/s']) {
    expect(svg).toContain(part)
  }
  expect(svg).toContain('prefers-color-scheme:dark')
  expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|url\(|@import|href/)
})

test('lines are named where there is space beside them, in one panel each', () => {
  const svg = drawStorm(simulationOf([policyWith(), CALM, { ...CALM }]))
  for (const name of ['>attempts<', '>calls offered<', '>useful answers<']) {
    // Once in the legend, which has more words for attempts, and once beside the line.
    expect(svg.split(name)).toHaveLength(name === '>attempts<' ? 2 : 3)
  }
  expect(drawStorm(simulationOf([CALM]))).not.toContain('>attempts<')
})

test('no more than six panels, and no coordinate that is none', () => {
  const others = Array.from({ length: 9 }, (_, index) => ({ ...CALM, name: `p${index}` }))
  const svg = drawStorm(simulationOf([policyWith(), ...others]))
  expect(svg.match(/class="attempts" d="M0 [\d.]+L/g)).toHaveLength(6)
  expect(svg).not.toMatch(/NaN|Infinity|undefined|null/)
})

test('a policy without calls, and a scenario without a fault, can be drawn', () => {
  const empty = policyWith({ seconds: { calls: [0], attempts: [0], useful: [0] } })
  const scenario = completeScenario({ fault: 'none' })
  const svg = drawStorm({ ...simulationOf([empty]), scenario })
  expect(svg).not.toMatch(/NaN|Infinity|undefined/)
  expect(svg).toContain('no fault')
})

test('whatever stands in a name, the XML stays whole', () => {
  expect(xmlText('<a b="c">&\u0000\u001b[31m\ud800')).toBe('&lt;a b=&quot;c&quot;&gt;&amp;')
  expect(tag('a', { b: '<"&', c: 1.04, d: -0.01 }, '')).toBe('<a b="&lt;&quot;&amp;" c="1" d="0"></a>')
  expect(drawStorm(simulationOf([policyWith({ title: '</text><script>' })]))).not.toContain('<script>')
})

test('a picture shows six at most: the one under test, those that say most, then the others', () => {
  const policy = (name: string, isSubject = false): SimulatedPolicy => ({ name, isSubject }) as SimulatedPolicy
  const many = ['none', 'a', 'b', 'exponential-5', 'c', 'd', 'recommended'].map((name) => policy(name))
  expect(pictured([policy('yours', true), ...many]).map(({ name }) => name)).toEqual([
    ...['yours', 'none', 'a', 'b', 'exponential-5', 'recommended'],
  ])
})
