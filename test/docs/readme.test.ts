/** README is short, its commands for a clone exist, and its recorded run is a picture that plays anywhere. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { animatedSvg, runsOf } from '../../scripts/animated-svg.mjs'
import { findFences, ROOT } from './fences.js'

const MAX_BYTES = 150_000
const MAX_README_LINES = 200

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
const readme = read('README.md')
const svg = read('docs/pictures/first-run.svg')
const textOf = (picture: string): string =>
  picture
    .replaceAll('</text>', ' ')
    .replaceAll('</g>', '\n')
    .replaceAll(/<[^>]+>/g, '')

test(`README has at most ${MAX_README_LINES} lines and shows the recorded run`, () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_README_LINES)
  expect(readme).toContain('](docs/pictures/first-run.svg)')
})

test('the commands of README for a clone exist, and .ci/run does what the test command does', () => {
  const [clone = { code: '' }] = findFences(readme, 'README.md').filter(({ language }) => language === 'sh')
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const named = [...clone.code.matchAll(/npm run (\S+)/g)].map(([, name = '']) => name)
  expect(named).toEqual(['build'])
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...named, 'test']))
  const [, file = 'none'] = /npx reprise run (\S+)/.exec(clone.code) ?? []
  expect(existsSync(path.join(ROOT, file)), file).toBe(true)
  expect(clone.code.trimEnd().split('\n').at(-1)).toBe('npm ci && npm test')
  expect(read('.ci/run')).toMatch(/^npm ci$[^]*\bnpm test$/m)
})

test.each(['README.md', 'docs/durable-tasks.md'])(
  '%s names the driver that its durable task needs on Node 20',
  (page) => {
    const { optionalDependencies } = JSON.parse(read('packages/cli/package.json')) as {
      optionalDependencies: Record<string, string>
    }
    const [[name, range] = ['', '']] = Object.entries(optionalDependencies)
    const [version] = /\d+\.\d+/.exec(range) ?? []
    expect(read(page)).toContain(`npm install ${name}@${version}`)
  },
)

test('the recorded run shows a retry, a kill, a resume and success', () => {
  const text = textOf(svg)
  for (const shown of [
    /\$ reprise run examples\/first-run\.yaml/,
    /retrying +fetch orders +2\/4/,
    /\$ kill -9 \d+/,
    /Killed/,
    /\$ reprise resume/,
    /kept +2 steps that succeeded/,
    /succeeded : bakery, run .* resumed 1×/,
  ]) {
    expect(text).toMatch(shown)
  }
})

test('the recorded run is one small file without scripts, fonts and addresses', () => {
  expect(Buffer.byteLength(svg)).toBeLessThan(MAX_BYTES)
  expect(svg).not.toMatch(/<script|@font-face|@import|url\(|<foreignObject/)
  expect(svg.match(/https?:[^"]*/g)).toEqual(['http://www.w3.org/2000/svg'])
})

test('a line becomes pieces by style and gap, each at its column, and hands its style to the next', () => {
  const styles = new Set(['c31'])
  expect(runsOf('FAILED  \u001B[32m✓ ok\u001B[39m   \u001B[1mbake rolls\u001B[0m  1s\u001B[2m', styles)).toEqual([
    { column: 0, text: 'FAILED', classes: 'c31' },
    { column: 8, text: '✓ ok', classes: 'c32' },
    { column: 15, text: 'bake rolls', classes: 'b' },
    { column: 27, text: '1s', classes: '' },
  ])
  expect([...styles]).toEqual(['d'])
})

test('an animation shows its screens in turn, and the last one where animations are off', () => {
  const frames = [
    { screen: ['a < b', 'same'], durationMs: 1_000 },
    { screen: ['', 'same'], durationMs: 3_000 },
  ]
  const picture = animatedSvg(frames, { columns: 10, rows: 2, title: 'Two screens' })
  expect(picture).toContain('a &lt; b')
  expect(picture.match(/>same</g)).toHaveLength(1)
  expect(picture).toContain(
    '@keyframes play{0%{transform:translateY(0px)}25%{transform:translateY(-38px)}to{transform:translateY(-38px)}}',
  )
  expect(picture).toContain('.film{transform:translateY(-38px);animation:play 4s step-end infinite}')
  expect(picture).toContain('@media (prefers-reduced-motion:reduce){.film{animation:none}}')
})
