/**
 * Files that are made to hurt, through the command line: each is refused with 2, nothing of it is executed or kept, and
 * the process does not die of it. Needs a build.
 */
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const STEP = '{ id: a, shell: "touch ran" }'
const bomb = Array.from({ length: 12 }, (_, index) => {
  const before = index === 0 ? '["touch ran"]' : `[${Array.from({ length: 10 }, () => `*a${index - 1}`).join(', ')}]`
  return `a${index}: &a${index} ${before}`
}).join('\n')

const SAMPLES: Readonly<Record<string, string | Uint8Array>> = {
  'deep lists': `steps: ${'['.repeat(100_000)}`,
  'deep lists that end': `steps: ${'['.repeat(5000)}${']'.repeat(5000)}`,
  'deep fields': `steps: ${'{a: '.repeat(20_000)}`,
  'deep blocks': Array.from({ length: 2000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
  'deep JSON': `{"steps": ${'[{"a":'.repeat(30_000)}`,
  'a bomb of aliases': `${bomb}\nsteps: *a11`,
  'an alias of itself': `steps: &a [${STEP}, *a]`,
  'too many nodes': `steps: [${STEP}]\nenv: [${'1,'.repeat(150_000)}1]`,
  'too large a file': `steps: [${STEP}]\n# ${'x'.repeat(1_100_000)}`,
  'a prototype': `steps: [${STEP}]\n__proto__: { polluted: 1 }`,
  'a prototype in a step': 'steps: [{ id: a, shell: touch ran, constructor: { prototype: { polluted: 1 } } }]',
  'a prototype as a merge': `x: &x { __proto__: { shell: touch ran } }\nsteps: [{ <<: *x, id: a }]`,
  'tags of other programs': `steps: !!js/function "function () { touch ran }"`,
  'numbers beyond all': `steps: [{ id: a, shell: touch ran, retry: { attempts: 1e400 } }]`,
  'no number': `steps: [{ id: a, shell: touch ran, retry: { attempts: .nan } }]`,
  'a number that is not exact': `steps: [{ id: a, shell: touch ran, retry: { attempts: 9007199254740993 } }]`,
  'a wait of centuries': `steps: [{ id: a, shell: touch ran, retry: { initial_delay: 9999999999d } }]`,
  'the same key twice': `steps: [${STEP}]\nsteps: [${STEP}]`,
  'two documents': `steps: [${STEP}]\n---\nsteps: [${STEP}]`,
  'a pattern that takes for ever': `steps: [{ id: a, shell: touch ran, retry: { retry_on: ["/(a+)+(/"] } }]`,
  zeros: new Uint8Array(4096),
  'no text': Uint8Array.from({ length: 4096 }, (_, index) => (index * 167) % 256),
  'half of a character': Buffer.concat([Buffer.from(`steps: [${STEP}]\nname: `), Uint8Array.of(0xc3)]),
  'quotes without end': `steps: "${'\\"'.repeat(100_000)}`,
  'a million dashes': '- '.repeat(500_000),
}

test('is refused by validate and by run: nothing is executed, nothing is kept', { timeout: 120_000 }, async () => {
  fixture = new CliFixture()
  const files = Object.entries(SAMPLES).map(([name, content]) => {
    fixture.write(`${name}.yaml`, content)
    return `${name}.yaml`
  })
  const validated = await fixture.reprise('validate', '--json', ...files)
  expect([validated.code, validated.signal]).toEqual([2, null])
  const results = (JSON.parse(validated.stdout) as { files: { file: string; ok: boolean }[] }).files
  expect(results.filter(({ ok }) => ok)).toEqual([])
  expect(results).toHaveLength(files.length)
  // A few at a time: each has a process to itself, which may die alone.
  const rest = [...files]
  const lane = async (): Promise<void> => {
    for (let file = rest.pop(); file !== undefined; file = rest.pop()) {
      const { code, signal, stderr } = await fixture.reprise('run', file)
      expect([file, code, signal, stderr]).toEqual([file, 2, null, expect.stringContaining('error')])
      expect(stderr.length).toBeLessThan(20_000)
    }
  }
  await Promise.all([lane(), lane(), lane()])
  expect([fixture.has('ran'), fixture.has('.reprise')]).toEqual([false, false])
})
