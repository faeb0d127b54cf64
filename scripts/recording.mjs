/**
 * Records docs/pictures/first-run.svg from a real run of the built command line: `npm run docs:recording`. Runs
 * examples/first-run.yaml in a terminal of tmux, kills it with SIGKILL from a second one, and resumes it.
 * Needs tmux and bash. Imports Node and the writer of the picture.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { animatedSvg } from './animated-svg.mjs'

/** @typedef {import('./animated-svg.mjs').Frame} Frame */

const root = fileURLToPath(new URL('../', import.meta.url))
const picture = path.join(root, 'docs/pictures/first-run.svg')
const COLUMNS = 94
const ROWS = 25
const SAMPLE_MS = 200
const KEY_MS = 40
const PATIENCE_MS = 30_000
const LAST_SCREEN_MS = 6_000

/** The run happens in a copy, so that paths on the screen are short and the repository stays as it is. */
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-recording-'))
const work = path.join(directory, 'work')
const bin = path.join(directory, 'bin')

/** @param {...string} args */
function tmux(...args) {
  const own = ['-S', path.join(directory, 'tmux'), '-f', '/dev/null']
  return execFileSync('tmux', [...own, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

/** @param {string} name @param {number} rows */
function openTerminal(name, rows) {
  // Without a history the shells write nothing when they end.
  const env = { HISTFILE: '', PATH: `${bin}:${process.env['PATH']}`, HOME: directory, LANG: 'C.UTF-8', PS1: '$ ' }
  const shell = ['env', '-u', 'CI', '-u', 'NO_COLOR', ...Object.entries(env).map(([key, value]) => `${key}=${value}`)]
  const size = ['-x', String(COLUMNS), '-y', String(rows), '-c', work]
  tmux('new-session', '-d', '-s', name, ...size, ...shell, 'bash', '--norc', '--noprofile')
}

/** @param {string} name */
const linesOf = (name) => tmux('capture-pane', '-e', '-p', '-t', name).replace(/\n$/, '').split('\n')

/** @type {{ screen: string[], durationMs: number }[]} */
const frames = []
let sampledAtMs = 0

/** Equal screens become one frame with the sum of their times. */
function sample() {
  const now = performance.now()
  const before = frames.at(-1)
  if (before !== undefined) before.durationMs += now - sampledAtMs
  sampledAtMs = now
  const separator = `\u001B[0;90m${'── second terminal '.padEnd(COLUMNS, '─')}\u001B[0m`
  const screen = [...linesOf('run'), separator, linesOf('other')[0] ?? '']
  if (screen.join('\n') !== before?.screen.join('\n')) frames.push({ screen, durationMs: 0 })
}

/** @param {number} forMs */
async function watch(forMs) {
  for (const endMs = performance.now() + forMs; performance.now() < endMs; ) {
    sample()
    await sleep(SAMPLE_MS)
  }
}

/** @param {string} name @param {RegExp} pattern */
async function waitFor(name, pattern) {
  const endMs = performance.now() + PATIENCE_MS
  while (!pattern.test(tmux('capture-pane', '-p', '-t', name))) {
    if (performance.now() > endMs)
      throw new Error(`${pattern} did not appear:\n${tmux('capture-pane', '-p', '-t', name)}`)
    sample()
    await sleep(SAMPLE_MS)
  }
  sample()
}

/** @param {string} name @param {string} command */
async function type(name, command) {
  for (const part of command.match(/.{1,3}/g) ?? []) {
    tmux('send-keys', '-t', name, '-l', part)
    await sleep(KEY_MS * part.length)
    sample()
  }
  await watch(400)
  tmux('send-keys', '-t', name, 'Enter')
}

/** The process that the shell of a terminal has started. @param {string} name */
function childOf(name) {
  const shell = tmux('display-message', '-p', '-t', name, '#{pane_pid}').trim()
  return execFileSync('pgrep', ['-P', shell], { encoding: 'utf8' }).trim()
}

async function record() {
  openTerminal('other', 2)
  await waitFor('run', /\$/)
  await waitFor('other', /\$/)
  frames.length = 0
  await watch(600)
  await type('run', 'reprise run examples/first-run.yaml')
  await waitFor('run', /running +bake rolls/)
  await type('other', `kill -9 ${childOf('run')}`)
  await waitFor('run', /Killed\n\$/)
  await watch(1_000)
  await type('run', 'reprise resume')
  await waitFor('run', /succeeded: [^]*\n\$/)
  sample()
}

mkdirSync(bin)
symlinkSync(path.join(root, 'packages/cli/bin/reprise.js'), path.join(bin, 'reprise'))
cpSync(path.join(root, 'examples'), path.join(work, 'examples'), { recursive: true })
try {
  openTerminal('run', ROWS)
} catch (error) {
  rmSync(directory, { recursive: true, force: true })
  throw new Error('No terminal could be opened: install tmux', { cause: error })
}
try {
  await record()
} finally {
  tmux('kill-server')
  rmSync(directory, { recursive: true, force: true })
}
const last = /** @type {{ durationMs: number }} */ (frames.at(-1))
last.durationMs = LAST_SCREEN_MS
const title = 'A workflow in a terminal: steps fail and are retried, kill -9 ends the run, reprise resume continues it'
const svg = animatedSvg(frames, { columns: COLUMNS, rows: ROWS + 2, title })
writeFileSync(picture, svg)
console.log(`${path.relative(root, picture)}: ${frames.length} screens, ${Math.ceil(svg.length / 1024)} KiB`)
