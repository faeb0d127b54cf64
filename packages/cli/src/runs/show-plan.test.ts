import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runProgram } from '../program.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-show-plan-'))
afterAll(() => rmSync(directory, { recursive: true }))

const file = path.join(directory, 'images.yaml')
writeFileSync(
  file,
  `
name: images
mode: mapreduce
params: {from: 1}
setup: [{id: list, shell: ./list}]
map:
  input: {command: './list \${from}', format: ndjson}
  json_path: $.id
  filter: item > 5
  distinct: item
  sort_by: item desc
  offset: 2
  max_items: 100
  max_parallel: 4
  rate: 20/s
  agent_timeout: 30s
  checkpoint: step
  agent_template: [{id: convert, shell: './convert \${item} \${from}', retry: 3}]
  on_item_error: [{id: tell, run: [tell, '\${item.key}']}]
reduce: [{id: report, shell: 'cat \${map.results_file}'}]
error_policy:
  item_retry: {attempts: 4, jitter: full}
  tolerate: 5%
  max_failures: 7
  failure_threshold: 0.25
  halt: now
  halt_on: [255]
  max_retries: 20
  max_retries_per_item: 2
`,
)

async function run(...args: string[]): Promise<string> {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const stdin = (async function* (): AsyncGenerator<string> {})()
  const code = await runProgram(args, { stdin, stdout: output('stdout'), stderr: output('stderr'), env: {} })
  expect(code, written.stderr).toBe(0)
  return written.stdout
}

test('a map is shown before it runs: input, template, selection, limits, what failures mean', async () => {
  const page = await run('run', file, '--dry-run', '--param', 'from=3')
  expect(page).toContain('images: 3 steps, nothing is run')
  expect(page).toMatch(/map +for each item of the output of \.\/list 3 +4, 30s each +stop/)
  expect(page).toMatch(/map\/convert +\.\/convert \$\{item\} 3 +3 +stop/)
  expect(page).toMatch(/map\/tell +tell \$\{item\.key\} +1 +stop/)
  expect(page).toContain(
    'items at $.id · where item > 5 · one for each item · by item desc · without the first 2 · at most 100 items · 4 at a time · 20 starts in 1s · 30s for an attempt · continues after the last finished step',
  )
  expect(page).toContain(
    '4 attempts of an item · 20 retries for all items · 2 of them for one · failed items are dead letters · up to 5 % failed is a success · failure 7 stops it · more than 25 % failed stop it · exit code 255 stops it · what runs is aborted then',
  )
})

test('a map is data before it runs, with the parameters filled in', async () => {
  const { steps } = JSON.parse(await run('run', file, '--dry-run', '--param', 'from=3', '--json')) as {
    steps: unknown[]
  }
  expect(steps[1]).toMatchObject({
    kind: 'map',
    input: { kind: 'command', action: { command: './list 3' }, format: 'ndjson' },
    template: [{ id: 'convert', action: { command: './convert ${item} 3' } }],
  })
})

test('the policies of a map are explained with how often each is started', async () => {
  const page = await run('explain', file)
  expect(page).toMatch(/map +4 +\S.* 3 per item/)
  expect(page).toMatch(/map\/convert +3 .* 9 per item/)
  const step = (await run('explain', file, 'map/convert')).replaceAll(/\s+/g, ' ')
  expect(step).toContain('It is started up to 9 times for one item (3 attempts of the step × 3 attempts of an item).')
  expect(await run('explain', file, 'map')).toContain('· items of map')
})

test('the number of items is part of it where the document says it', async () => {
  const counted = path.join(directory, 'counted.yaml')
  writeFileSync(
    counted,
    'steps: [{id: m, map: {input: {range: [1, 500]}, agent_template: [{id: s, shell: x, retry: 3}], error_policy: {item_retry: 2, max_retries: 20}}}]',
  )
  const step = (await run('explain', counted, 'm/s')).replaceAll(/\s+/g, ' ')
  expect(step).toContain(', up to 1560 times for 500 items, with 20 retries for all.')
})
