/** Two SQLite files in one directory are two stores: runs of the same id have nothing in common. Starts the command line. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture

beforeEach(() => {
  fixture = new CliFixture()
  for (const name of ['a', 'b'])
    fixture.write(`${name}.yaml`, `name: ${name}\nsteps: [{ id: work, shell: "echo output of ${name}" }]\n`)
})

afterEach(() => fixture.remove())

test('runs of one id in two SQLite files have separate logs, and clean of one keeps those of the other', async () => {
  for (const name of ['a', 'b']) {
    const { code, stderr } = await fixture.reprise(
      'run',
      `${name}.yaml`,
      '--run-id',
      'same',
      '--store',
      `sqlite:${name}.db`,
    )
    expect({ code, stderr }).toMatchObject({ code: 0 })
  }
  expect((await fixture.reprise('logs', 'same', '--store', 'sqlite:a.db')).stdout).toBe('output of a\n')
  expect((await fixture.reprise('clean', 'same', '--yes', '--store', 'sqlite:b.db')).code).toBe(0)
  expect((await fixture.reprise('logs', 'same', '--store', 'sqlite:a.db')).stdout).toBe('output of a\n')
  expect(fixture.has('.reprise/sqlite-b.db/runs/same')).toBe(false)
})
