/** Page sessions are true from top to bottom: every file is written, every command typed. Needs a build. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../postgres/shared-server.js'
import { documentedFences, findFences, packageFences } from './fences.js'
import { differenceOf, isPageSession, pagesOf, partsOf, Shell } from './page-session.js'

const sessions = [...pagesOf([...documentedFences(), ...packageFences()])].filter(([, fences]) => isPageSession(fences))

/** The machine may be busy. */
const PATIENCE_MS = 60_000

test('there are stories', () => {
  expect(sessions.map(([page]) => page)).toContain('docs/tutorial.md')
})

describe.each(sessions)('%s', (_page, fences) => {
  let shell: Shell
  let database: TestDatabase | undefined
  beforeAll(async () => {
    if (fences.some(({ code }) => code.includes('DATABASE_URL'))) database = await testDatabase()
    shell = new Shell(database?.url)
  })
  afterAll(async () => {
    await shell.end()
    await database?.drop()
  })

  for (const part of partsOf(fences)) {
    if ('file' in part) {
      test(`${part.place}: ${part.file} is written`, () => shell.write(part.file, part.text))
      continue
    }
    const { place, command, shown, code } = part
    test(
      `${place}: ${command.split('\n')[0]}`,
      async () => {
        const { output, code: ended } = await shell.type(command)
        if (code !== null) expect(ended, output).toBe(code)
        if (shown.length === 0) return
        const expected = shell.steady(shown.join('\n'), command)
        const difference = differenceOf(expected, shell.steady(output, command))
        expect(difference, `the page shows\n${expected.join('\n')}\n\nand it printed\n${output}`).toBeUndefined()
      },
      PATIENCE_MS,
    )
  }
})

describe('a page session', () => {
  const fences = findFences(
    '```yaml file=a.yaml\nsteps: []\n```\n```console exit=3\n$ one \\\n> two\nout\n$ false\n$ echo $?\n1\n$ last\n```\n',
    'a.md',
  )

  test('is files and commands, with what they show and how they end', () => {
    expect(isPageSession(fences)).toBe(true)
    expect(isPageSession(findFences('```yaml\na: 1\n```\n', 'b.md'))).toBe(false)
    expect(partsOf(fences)).toEqual([
      { file: 'a.yaml', text: 'steps: []\n', place: 'a.md:1' },
      { place: 'a.md:4', command: 'one \\\ntwo', shown: ['out'], code: 0 },
      { place: 'a.md:4', command: 'false', shown: [], code: null },
      { place: 'a.md:4', command: 'echo $?', shown: ['1'], code: 0 },
      { place: 'a.md:4', command: 'last', shown: [], code: 3 },
    ])
  })

  test('is told by one shell: variables, jobs and exit codes go on', async () => {
    const shell = new Shell()
    try {
      await shell.type('x=5; sleep 60 &')
      expect((await shell.type('kill -9 $!; wait $!; echo $x')).output).toContain('5\n')
      expect(await shell.type('cat; (exit 7)')).toEqual({ output: '', code: 7 })
      expect((await shell.type('echo $?')).output).toBe('7\n')
    } finally {
      await shell.end()
    }
  })

  test('tells when what is printed is something else', () => {
    expect(differenceOf(['a', '…', 'd …'], ['a', 'b', 'c', 'd e', ''])).toBeUndefined()
    expect(differenceOf(['a', '…'], ['a'])).toBeUndefined()
    expect(differenceOf(['a'], ['a', 'b'])).toBe('a\nb')
    expect(differenceOf(['a.c'], ['abc'])).toBe('abc')
    expect(differenceOf(['a', 'b'], ['a'])).toBe('a')
  })

  test('compares waits that a policy chose, and no times that were measured', async () => {
    const shell = new Shell()
    try {
      const steady = (text: string): string[] => shell.steady(text, 'reprise run a.yaml')
      expect(steady('ok a (12ms)')).toEqual(steady('ok   a (1.5s)'))
      expect(steady('Retrying a (attempt 2/3) after 1s: no')).not.toEqual(
        steady('Retrying a (attempt 2/3) after 2s: no'),
      )
      expect(steady('a  at attempt 2/3, waited 1s')).not.toEqual(steady('a  at attempt 2/3, waited 2s'))
      expect(steady(`from ${shell.directory}/a.yaml`)).toEqual(['from …/a.yaml'])
      expect(steady('started 3s ago')).toEqual(steady('started now'))
      expect(shell.steady('  2   1s', 'reprise explain a.yaml')).toEqual(['  2   1s'])
    } finally {
      await shell.end()
    }
  })
})
