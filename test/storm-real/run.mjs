// @ts-check
/**
 * The command `npm run storm:real`: replays each policy after the other, prints what happened beside what the simulator
 * says, and fails if a goal is missed. Imports the rig's parts.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { killAll } from './children.mjs'
import { realFigures, simulatedFigures } from './figures.mjs'
import { judge } from './goals.mjs'
import { replay } from './replay.mjs'
import { fileOf, textOf } from './report.mjs'
import { FULL, SHORT, SUBJECTS } from './rig.mjs'

const HELP = `npm run storm:real -- [options]

  --seed <n>      arrivals, service times and jitter come from it; without it, one by chance
  --only <name>   one policy, may be repeated: ${SUBJECTS.join(', ')}
  --short         the shorter times of the test
  --json          print data instead of text
  --write         also write RESULTS.md; not with --only or --short
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
  const unknown = options.only.find((name) => !SUBJECTS.some((subject) => subject === name))
  if (unknown !== undefined) refuse(`--only ${unknown} is not a policy of the storm.`)
  if (options.write && (options.short || options.only.length > 0)) refuse('--write needs the whole run.')
  const subjects = SUBJECTS.filter((name) => options.only.length === 0 || options.only.includes(name))
  return { seed, subjects, rig: options.short ? SHORT : FULL }
}

/**
 * @param {string} subject @param {import('./rig.mjs').Rig} rig @param {number} seed
 * @returns {Promise<import('./report.mjs').Result>}
 */
async function resultOf(subject, rig, seed) {
  const { clients, server, machine } = await replay(subject, rig, seed)
  return {
    subject,
    real: realFigures(clients, rig),
    simulated: simulatedFigures(subject, rig, seed),
    seconds: clients.seconds,
    stops: clients.stops,
    server,
    machine,
  }
}

async function main() {
  const { seed, subjects, rig } = readOptions()
  const results = []
  for (const subject of subjects) {
    if (!options.json) console.log(`${subject}, seed ${seed} …`)
    results.push(await resultOf(subject, rig, seed))
  }
  const goals = judge(new Map(results.map(({ subject, real }) => [subject, real])))
  const data = { seed, node: process.versions.node, rig, results, goals }
  const text = textOf(data)
  console.log(options.json ? JSON.stringify(data, undefined, 2) : `\n${text}`)
  if (options.write) writeFileSync(new URL('RESULTS.md', import.meta.url), fileOf(text))
  // A short run is too short to say when a policy is back.
  if (!options.short && goals.some((goal) => !goal.met)) process.exitCode = 1
}

/** @param {unknown} error */
function fail(error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

if (options.help) console.log(HELP)
else await main().catch(fail)
