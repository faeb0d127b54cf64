import { expect, test } from 'vitest'
import type { ProcessIo } from '../process-io.js'
import { annotation, groupMarks, isGitHub, neutralLines, neutralIo, writePage } from './github-commands.js'
import { writeJson, writeJsonLine } from './json.js'

/** What the runner does with lines: which commands it obeys, in order. Both of its spellings, as its source has them. */
function obeyed(text: string): string[] {
  const commands: string[] = []
  let stopped: string | undefined
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, name, , data = ''] = /^\s*::([\w-]+)( [^:]*)?::(.*)$/.exec(line) ?? []
    const old = /##\[([\w-]+)/.exec(line)?.[1]
    if (stopped !== undefined) {
      if (name === stopped) stopped = undefined
    } else if (name === 'stop-commands') stopped = data
    else if (name !== undefined) commands.push(name)
    else if (old !== undefined) commands.push(old)
  }
  return commands
}

const EVIL = ['::error::x', '  ::add-mask::y', 'a ##[set-env name=A]b', 'over\r::error::z', '::endgroup::']

test.each(EVIL)('%j in a line is text for the runner', (line) => {
  expect(obeyed(line)).not.toEqual([])
  expect(obeyed(neutralLines(`${line}\n`))).toEqual([])
  expect(obeyed(`${neutralLines(line)}::error::ours\n`)).toEqual(['error'])
})

test('a line that cannot be a command is left as it is', () => {
  expect(neutralLines('ok fetch (3ms): a: b\n')).toBe('ok fetch (3ms): a: b\n')
})

test.each([...EVIL, '###[error]x', '##[error]', '::error::\n::warning::y'])(
  '%j in JSON is no command, and the same data',
  (text) => {
    const data = { [text]: [text, `\\${text}`, `\n${text}`] }
    for (const write of [writeJson, writeJsonLine]) {
      let said = ''
      write({ write: (json) => (said += json) }, data)
      expect(obeyed(said)).toEqual([])
      expect(JSON.parse(said)).toEqual(data)
    }
  },
)

test('a page has no command under GitHub Actions, and is as it was elsewhere', () => {
  const page = (env: ProcessIo['env']): string => {
    let said = ''
    writePage({ stdout: { write: (text) => (said += text) }, env }, `${EVIL.join('\n')}\n`)
    return said
  }
  expect(obeyed(page({ GITHUB_ACTIONS: 'true' }))).toEqual([])
  expect(page({})).toBe(`${EVIL.join('\n')}\n`)
})

test('within a group nothing is obeyed, and after it everything again', () => {
  const { begin, end } = groupMarks('fetch\n::error::x')
  expect(obeyed(`${begin}${EVIL.join('\n')}\n${end}::warning::ours`)).toEqual(['group', 'endgroup', 'warning'])
})

test('nobody can know the word that ends it', () => {
  expect(groupMarks('a').begin).not.toBe(groupMarks('a').begin)
})

test('an annotation is one line, whatever it says', () => {
  expect(annotation('error', 'a: 50%, b\r\n', '100 %\nof: a, b')).toBe(
    '::error title=a%3A 50%25%2C b%0D%0A::100 %25%0Aof: a, b',
  )
})

test('only under GitHub Actions is stderr guarded, and stdin is not touched', () => {
  const said: string[] = []
  const ioWith = (env: ProcessIo['env']): ProcessIo => ({
    get stdin(): never {
      throw new Error('it is touched')
    },
    stdout: { write: () => undefined },
    stderr: { write: (text) => said.push(text) },
    env,
  })
  const plain = ioWith({ CI: 'true' })
  expect(isGitHub(plain.env)).toBe(false)
  expect(neutralIo(plain)).toBe(plain)
  neutralIo(ioWith({ GITHUB_ACTIONS: 'true' })).stderr.write('x: ::error::y\n')
  expect(said[0]).toMatch(/^::stop-commands::(\S+)\nx: ::error::y\n::\1::\n$/)
})
