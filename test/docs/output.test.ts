/** The output that `console` fences show is what the commands print. Needs a build. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { documentedFences, findFences, ROOT } from './fences.js'

const packageReadmes = ['packages/cli/README.md', 'packages/reprise/README.md'].filter((file) =>
  existsSync(path.join(ROOT, file)),
)
const shown = [
  ...documentedFences(),
  ...packageReadmes.flatMap((file) => findFences(readFileSync(path.join(ROOT, file), 'utf8'), file)),
]
  .filter(({ language, code }) => language === 'console' && /^\$ .*(reprise|npm run example)/.test(code))
  .map(({ place, code }) => {
    const [command = '', ...output] = code.split('\n')
    return { place, command: command.slice(2), output: output.join('\n').trim() }
  })
  .filter(({ output }) => output !== '')

/** Simulations take seconds, and the machine may be busy. */
const PATIENCE_MS = 180_000

test.each(shown)(
  '$place shows what `$command` prints',
  ({ command, output }) => {
    const bin = `"${process.execPath}" packages/cli/bin/reprise.js`
    const runnable = command
      .replace('npm run', 'npm run --silent')
      .replace(/(npx )?\breprise (?=explain|simulate|validate|schema)/, `${bin} `)
    const { stdout, stderr } = spawnSync('sh', ['-c', runnable], { cwd: ROOT, encoding: 'utf8' })
    expect(stdout + stderr).toContain(output)
  },
  PATIENCE_MS,
)
