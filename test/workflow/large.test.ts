/**
 * Large outputs and values: what a step says is kept whole, in bounded memory; what is too large to be captured or handed
 * on is refused by name and never cut. Needs a build.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { type Going, CliFixture } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const hasProc = existsSync('/proc/self/status')

/** The most memory it had at a time, in MiB, as far as the system tells. */
async function mostMemory(going: Going): Promise<number> {
  let kib = 0
  const look = (): void => {
    try {
      const [, most] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${going.child.pid}/status`, 'utf8')) ?? []
      kib = Math.max(kib, Number(most ?? 0))
    } catch {
      // It has ended.
    }
  }
  const timer = setInterval(look, 20)
  await going.ended
  clearInterval(timer)
  return kib / 1024
}

describe.skipIf(!hasProc)('250 MB of output', () => {
  const BYTES = 250_000_000

  test('are kept whole, in memory that does not grow with it', { timeout: 120_000 }, async () => {
    fixture = new CliFixture(
      `steps: [{ id: work, max_log: 300MiB, shell: "head -c ${BYTES} /dev/zero | tr '\\\\0' y" }]`,
    )
    const going = fixture.start(...RUN)
    const runMib = await mostMemory(going)
    expect((await going.ended).code).toBe(0)
    expect(statSync(fixture.path('.reprise/runs/r1/work/1.1.1.log')).size).toBe(BYTES)
    expect(runMib).toBeGreaterThan(20)
    expect(runMib).toBeLessThan(200)
  })

  test('that are shown to a slow reader stay where they are', { timeout: 120_000 }, async () => {
    fixture = new CliFixture(`steps: [{ id: work, shell: "head -c 60000000 /dev/zero | tr '\\\\0' y" }]`)
    expect((await fixture.reprise(...RUN)).code).toBe(0)
    const logs = fixture.start('logs', 'r1')
    logs.child.stdout?.pause()
    const memory = mostMemory(logs)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    logs.child.stdout?.resume()
    expect((await logs.ended).stdout).toHaveLength(60_000_000)
    expect(await memory).toBeLessThan(110)
  })
})

describe('a value', () => {
  test('that is too large to be captured fails its step, says so, and nothing of it is used', async () => {
    fixture = new CliFixture(`
steps:
  - { id: big, shell: "head -c 1100000 /dev/zero | tr '\\\\0' y", capture: big, retry: { on_failure: continue, attempts: 1 } }
  - { id: next, shell: 'echo "got \${big}" >> next' }
`)
    expect((await fixture.reprise(...RUN)).code).toBe(3)
    const [big] = (await fixture.show('r1')).steps
    expect(big?.failure?.message).toContain('longer than the 1048576 bytes that can be captured')
    expect(statSync(fixture.path('.reprise/runs/r1/big/1.1.1.log')).size).toBe(1_100_000)
    expect(fixture.read('next')).toBe('got \n')
  })

  test('that is too large for a program is named, not cut, and its step is not tried again', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`V${index}`, '${half}']))
    const steps = [
      { id: 'make', shell: "head -c 200000 /dev/zero | tr '\\0' y", capture: 'big' },
      { id: 'half', shell: "head -c 100000 /dev/zero | tr '\\0' y", capture: 'half' },
      { id: 'shell', shell: 'echo x >> ran; echo "${big}"' },
      { id: 'run', run: ['sh', '-c', 'echo x >> ran', 'sh', '${big}'] },
      { id: 'env', shell: 'echo x >> ran', env: { BIG: '${big}' } },
      { id: 'many', shell: 'echo x >> ran', env: many },
      { id: 'file', write_file: { path: 'out', content: '${big}' } },
      { id: 'fits', shell: 'printf %s "${half}" | wc -c >> fits' },
    ]
    fixture = new CliFixture(
      JSON.stringify({ retry_defaults: { attempts: 3, initial_delay: '10ms', on_failure: 'continue' }, steps }),
    )
    expect((await fixture.reprise(...RUN)).code).toBe(3)
    const views = (await fixture.show('r1')).steps
    const failureOf = (id: string): unknown => {
      const { attempts, stopReason, failure } = views.find((step) => step.id === id) ?? {}
      return [attempts, stopReason, failure?.message]
    }
    expect(failureOf('shell')).toEqual([1, 'not_retryable', expect.stringContaining('`${big}` has 200000 bytes')])
    expect(failureOf('run')).toEqual([1, 'not_retryable', expect.stringContaining('argument 4 of `run` has 200000')])
    expect(failureOf('env')).toEqual([1, 'not_retryable', expect.stringContaining('variable BIG has 200004 bytes')])
    expect(failureOf('many')).toEqual([
      1,
      'not_retryable',
      expect.stringMatching(/the largest is the variable V\d+ with 100000/),
    ])
    expect(fixture.count('ran')).toBe(0)
    expect(statSync(fixture.path('out')).size).toBe(200_000)
    expect(fixture.read('fits').trim()).toBe('100000')
  })
})
