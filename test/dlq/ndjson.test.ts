/** `--ndjson` of the commands for dead letters: a line of JSON for each letter, or one for the whole answer. Needs a build. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LetterFixture } from './letter-fixture.js'

let fixture: LetterFixture
beforeAll(async () => {
  fixture = new LetterFixture({ items: ['a', 'b', 'c'] })
  fixture.fail('a', 'b', 'c')
  expect((await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
})
afterAll(() => fixture.remove())

const lines = async (...args: string[]): Promise<Record<string, unknown>[]> => {
  const { code, stdout, stderr } = await fixture.here('dlq', ...args, '--ndjson')
  expect([args[0], code, stderr]).toEqual([args[0], 0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('list, groups and export print a line for each element, show and stats one line', async () => {
  expect((await lines('list', 'r1')).map(({ key }) => key)).toEqual(['a', 'b', 'c'])
  expect(await lines('groups', 'r1')).toMatchObject([{ count: 3 }])
  expect((await lines('export', 'r1')).map(({ data }) => data)).toEqual(['a', 'b', 'c'])
  expect(await lines('show', 'r1/map', 'a')).toMatchObject([{ key: 'a' }])
  expect(await lines('stats', 'r1')).toMatchObject([{ open: 3 }])
})

test('edit, ack and purge print one line with what was changed', async () => {
  expect(await lines('edit', 'r1/map', 'a', '--input', '"d"')).toEqual([
    { letter: 'r1/map/0000000.a', before: 'a', after: 'd' },
  ])
  expect(await lines('ack', 'r1/map', 'b', '--reason', 'x')).toEqual([
    { letter: 'r1/map/0000001.b', acknowledged: true },
  ])
  expect(await lines('purge', '--older-than', '0s', '--yes')).toEqual([{ found: 1, removed: 1 }])
})

test('retry prints the events of the redrive, and then what became of it', async () => {
  expect(await lines('retry', 'r1', '--where', 'key == "a"', '--dry-run')).toMatchObject([
    { type: 'redriven', chosen: [{ items: 1 }] },
  ])
  fixture.mend('a', 'c')
  const { code, stdout } = await fixture.here('dlq', 'retry', 'r1', '--ndjson')
  expect(code).toBe(3)
  const told = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string })
  expect(told.map(({ type }) => type)).toContain('run_state')
  expect(told.at(-1)).toMatchObject({ type: 'redriven', runs: [{ redriven: 2, succeeded: 2 }] })
})
