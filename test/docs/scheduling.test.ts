/** The units of the page on timers, as systemd reads them. Its script is typed like that of every page session. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findFences, ROOT } from './fences.js'

const page = 'docs/scheduling.md'
const fences = findFences(readFileSync(path.join(ROOT, page), 'utf8'), page)
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-units-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const isThere = spawnSync('systemd-analyze', ['--version']).status === 0

function unit(name: string): string {
  const code = fences.find(({ flags }) => flags.includes(`file=${name}`))?.code
  if (code === undefined) throw new Error(`${page} has no ${name}`)
  return code
}

test.runIf(isThere)('systemd finds nothing wrong with the service and its timer', () => {
  // The script is not installed here.
  writeFileSync(
    path.join(directory, 'nightly.service'),
    unit('nightly.service').replace('/srv/nightly/nightly.sh', '/bin/true'),
  )
  writeFileSync(path.join(directory, 'nightly.timer'), unit('nightly.timer'))
  const files = ['nightly.service', 'nightly.timer'].map((name) => path.join(directory, name))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], { encoding: 'utf8' })
  const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('nightly'))
  expect(about).toEqual([])
})

test.runIf(isThere)('the timer starts the service every ten minutes from 3:00 to 5:50', () => {
  const calendar = /^OnCalendar=(.*)$/m.exec(unit('nightly.timer'))?.[1] ?? ''
  const said = execFileSync('systemd-analyze', ['calendar', '--iterations=18', calendar], {
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC' },
  })
  const times = [...said.matchAll(/(?:Next elapse|Iteration #\d+|Iter\. #\d+): \w+ \S+ (\d\d:\d\d):00/g)].map(
    ([, time]) => time,
  )
  const wanted = [3, 4, 5].flatMap((hour) =>
    [0, 10, 20, 30, 40, 50].map((minute) => `0${hour}:${String(minute).padStart(2, '0')}`),
  )
  expect(times.toSorted()).toEqual(wanted)
})
