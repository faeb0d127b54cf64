// @ts-check
/**
 * The command `npm run storm:real`: replays each scenario with each of its policies, one after the other, prints what
 * happened beside what the simulator says, and fails if a goal is missed. Imports the rig's parts.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { killAll } from './children.mjs'
import { realFigures, simulatedFigures } from './figures.mjs'
import { judge } from './goals.mjs'
import { replay } from './replay.mjs'
import { fileOf, textOf } from './report.mjs'
import { FULL, SCENARIO_NAMES, SHORT, SUBJECT_NAMES } from './rig.mjs'

const HELP = `npm run storm:real -- [options]

  --scenario <name>  one scenario, may be repeated: ${SCENARIO_NAMES.join(', ')}
  --only <name>      one policy, may be repeated: ${SUBJECT_NAMES.join(', ')}
  --seed <n>         seed of arrivals, service times and jitter; a random one by default
  --short            the shorter times of the test; goals are shown, but a missed one is no failure
  --json             print data instead of text
  --write            also write RESULTS.md; not with --scenario, --only or --short
`

for (const [signal, code] of /** @type {const} */ ([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])) {
  process.on(signal, () => {
    killAll()
    process.exit(code)
  })
}

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string' },
    scenario: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', multiple: true, default: [] },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(`${message}\n\n${HELP}`)
  process.exit(2)
}

function readOptions() {
  const seed = options.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(options.seed)
  if (!Number.isInteger(seed) || seed < 0) refuse(`--seed ${options.seed} is not a whole number of 0 or more.`)
  expectKnown('scenario', options.scenario, SCENARIO_NAMES)
  expectKnown('only', options.only, SUBJECT_NAMES)
  const isPart = options.short || options.only.length > 0 || options.scenario.length > 0
  if (options.write && isPart) refuse('--write needs the whole run.')
  const isChosen = (/** @type {string[]} */ chosen, /** @type {string} */ name) =>
    chosen.length === 0 || chosen.includes(name)
  const scenarios = Object.values(options.short ? SHORT : FULL)
    .filter(({ name }) => isChosen(options.scenario, name))
    .map((scenario) => ({ ...scenario, subjects: scenario.subjects.filter((name) => isChosen(options.only, name)) }))
  return { seed, scenarios }
}

/** @param {string} option @param {string[]} chosen @param {readonly string[]} known */
function expectKnown(option, chosen, known) {
  const unknown = chosen.find((name) => !known.includes(name))
  if (unknown !== undefined) refuse(`--${option} ${unknown} is none of ${known.join(', ')}.`)
}

/**
 * @param {string} subject @param {import('./rig.mjs').Scenario} scenario @param {number} seed
 * @returns {Promise<import('./report.mjs').Result>}
 */
async function resultOf(subject, scenario, seed) {
  const { clients, server, machine } = await replay(subject, scenario, seed)
  return {
    subject,
    real: realFigures(clients, scenario),
    simulated: simulatedFigures(subject, scenario, seed),
    seconds: clients.seconds,
    stops: clients.stops,
    server,
    machine,
  }
}

/**
 * @param {import('./rig.mjs').Scenario} scenario @param {number} seed
 * @returns {Promise<import('./report.mjs').Section>}
 */
async function sectionOf(scenario, seed) {
  const results = []
  for (const subject of scenario.subjects) {
    if (!options.json) console.log(`${scenario.name}, ${subject}, seed ${seed} …`)
    results.push(await resultOf(subject, scenario, seed))
  }
  return {
    scenario,
    results,
    goals: judge(scenario.name, new Map(results.map(({ subject, real }) => [subject, real]))),
  }
}

async function main() {
  const { seed, scenarios } = readOptions()
  const sections = []
  for (const scenario of scenarios) sections.push(await sectionOf(scenario, seed))
  const data = { seed, node: process.versions.node, sections }
  const text = textOf(data)
  console.log(options.json ? JSON.stringify(data, undefined, 2) : `\n${text}`)
  if (options.write) writeFileSync(new URL('RESULTS.md', import.meta.url), fileOf(text))
  // A short run is too short to say when a policy is back.
  if (!options.short && sections.some(({ goals }) => goals.some((goal) => !goal.met))) process.exitCode = 1
}

/** @param {unknown} error */
function fail(error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

if (options.help) console.log(HELP)
else await main().catch(fail)
