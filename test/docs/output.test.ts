/** The output that `console` fences show is what the commands print. Needs a build. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { documentedFences, packageFences, ROOT } from './fences.js'
import { withoutStories } from './story.js'

const shown = withoutStories([...documentedFences(), ...packageFences()])
  .filter(({ language, code }) => language === 'console' && /^\$ .*(reprise|npm run example)/.test(code))
  .map(({ place, code }) => {
    const [command = '', ...output] = code.split('\n')
    return { place, command: command.slice(2), output: output.join('\n').trim() }
  })
  .filter(({ output }) => output !== '')

/** Simulations take seconds, and the machine may be busy. */
const PATIENCE_MS = 180_000

/** Runs are kept elsewhere: what is shown leaves nothing in the repository. */
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-output-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Of a run, what is the same each time: neither its id nor how long something took. */
function unmeasured(text: string): string {
  return text.replaceAll(/-\d{6}-[0-9a-f]{6}\b/g, '-ID').replaceAll(/\b\d+(\.\d+)?(ms|s)\b/g, 'TIME')
}

test.each(shown)(
  '$place shows what `$command` prints',
  ({ command, output }) => {
    const bin = `"${process.execPath}" packages/cli/bin/reprise.js`
    const runnable = command
      .replace('npm run', 'npm run --silent')
      .replace(/(npx )?\breprise (?=explain|simulate|validate|schema|run)/, `${bin} `)
    const env = { ...process.env, REPRISE_STORE: `sqlite:${path.join(directory, 'ledger.db')}` }
    const { stdout, stderr } = spawnSync('sh', ['-c', runnable], { cwd: ROOT, encoding: 'utf8', env })
    const same = / run /.test(runnable) && !runnable.startsWith('npm') ? unmeasured : (text: string) => text
    expect(same(stdout + stderr)).toContain(same(output))
  },
  PATIENCE_MS,
)
