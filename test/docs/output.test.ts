/** The output that `console` fences show is what the commands print, and they end well. Needs a build. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { documentedFences, packageFences, ROOT, shownIn } from './fences.js'
import { withoutPageSessions } from './page-session.js'

const shown = withoutPageSessions([...documentedFences(), ...packageFences()])
  .map(shownIn)
  .filter((one) => one !== undefined)

/** Simulations take seconds, and the machine may be busy. */
const PATIENCE_MS = 180_000

/** Runs are kept elsewhere: what is shown leaves nothing in the repository. */
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-output-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Of a run, what is the same each time: neither its id nor how long something took. */
function unmeasured(text: string): string {
  return text.replaceAll(/-\d{6}-[0-9a-f]{6}\b/g, '-ID').replaceAll(/\b\d+(\.\d+)?(ms|s)\b/g, 'TIME')
}

const ends = new Map<string, { readonly status: number | null; readonly text: string }>()

/** Of what is shown in parts, once. */
function endOf(command: string): { readonly status: number | null; readonly text: string } {
  const known = ends.get(command)
  if (known !== undefined) return known
  const env = { ...process.env, REPRISE_STORE: `sqlite:${path.join(directory, 'ledger.db')}` }
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8', env })
  const end = { status, text: stdout + stderr }
  ends.set(command, end)
  return end
}

test.each(shown)(
  '$place shows what `$command` prints',
  ({ command, output, isRun }) => {
    const bin = `"${process.execPath}" packages/cli/bin/reprise.js`
    const runnable = command
      .replace('npm run', 'npm run --silent')
      .replace(/(npx )?\breprise (?=explain|simulate|validate|schema|run)/, `${bin} `)
    const { status, text } = endOf(runnable)
    const same = / run /.test(runnable) && !runnable.startsWith('npm') ? unmeasured : (whole: string) => whole
    if (isRun) expect(status, text).toBe(0)
    expect(same(text)).toContain(same(output))
  },
  PATIENCE_MS,
)
