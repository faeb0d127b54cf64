/** Files of tokens: who can read them, what stands in them, and that no message has a token in it. */
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { InputError } from '@reprise/workflow'
import { newSecret, readTokens, Tokens } from '../../packages/dashboard/src/serve/tokens.js'
import { pathHere, SECRETS, tokensFile } from './gate-fixture.js'

const problemsOf = (file: string): readonly { readonly line?: number; readonly message: string }[] => {
  try {
    readTokens(file)
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
  return []
}

describe('a file of tokens', () => {
  it('knows each token by its name and right, and no other', () => {
    const tokens = readTokens(tokensFile(`# of gates\n\n act ada ${SECRETS.act}  \r\nview vic\t${SECRETS.view}\n`))
    expect(tokens.find(`Bearer ${SECRETS.act}`)).toEqual({ access: 'act', name: 'ada' })
    expect(tokens.find(`bearer  ${SECRETS.view}`)).toEqual({ access: 'view', name: 'vic' })
    for (const header of [
      null,
      '',
      'Bearer',
      'Bearer ',
      SECRETS.act,
      `Basic ${SECRETS.act}`,
      `Bearer ${SECRETS.act} x`,
    ])
      expect(tokens.find(header)).toBeUndefined()
    expect(tokens.find(`Bearer ${SECRETS.act.slice(0, -1)}`)).toBeUndefined()
  })

  it.each([0o644, 0o640, 0o660, 0o606, 0o601])('of mode %o is refused with the cure', (mode) => {
    const file = tokensFile()
    chmodSync(file, mode)
    const [problem] = problemsOf(file)
    expect(problem).toMatchObject({ file, message: expect.stringMatching(/others/), suggestion: `chmod 600 ${file}` })
  })

  it('names every line that is no token, and shows none', () => {
    const short = 'short-secret'
    const long = 'x'.repeat(600)
    const file = tokensFile(
      [
        `act ada ${SECRETS.act}`,
        `act ada`,
        `admin ada ${SECRETS.view}`,
        `act ../ada ${SECRETS.view}`,
        `act ada ${short}`,
        `act ada ${long}`,
        `view other ${SECRETS.act}`,
        `view vic ${SECRETS.view} more`,
      ].join('\n'),
    )
    const problems = problemsOf(file)
    expect(problems.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8])
    const said = JSON.stringify(problems)
    for (const secret of [SECRETS.act, SECRETS.view, short, long]) expect(said).not.toContain(secret)
    expect(said).toMatch(/same token as line 1/)
  })

  it('without a token, a directory, a pipe, a file that is not there or too large is refused', () => {
    expect(problemsOf(tokensFile('# nothing\n'))).toMatchObject([{ message: 'has no token' }])
    const directory = pathHere('directory')
    mkdirSync(directory, { mode: 0o700 })
    expect(problemsOf(directory)).toMatchObject([{ message: 'is not a file' }])
    const pipe = pathHere('pipe')
    execFileSync('mkfifo', ['-m', '600', pipe])
    expect(problemsOf(pipe)).toMatchObject([{ message: 'is not a file' }])
    expect(problemsOf(pathHere('absent'))).toMatchObject([{ message: 'does not exist' }])
    expect(problemsOf(tokensFile('#'.repeat(2 ** 20 + 1)))).toMatchObject([{ message: /bytes/ }])
  })

  it('is followed through a link, as secrets are mounted', () => {
    const link = pathHere('link')
    symlinkSync(tokensFile(), link)
    expect(readTokens(link).find(`Bearer ${SECRETS.act}`)?.name).toBe('ada')
  })
})

it('a token that is made at a start has 128 bits, and is another one each time', () => {
  const secrets = new Set(Array.from({ length: 1000 }, newSecret))
  expect(secrets.size).toBe(1000)
  for (const secret of secrets) expect(Buffer.from(secret, 'base64url')).toHaveLength(16)
})

it('looking for a token takes the same time wherever it stands, and whether it is there', () => {
  const known = Array.from({ length: 2000 }, (_, index) => ({
    access: 'act' as const,
    name: `n${index}`,
    secret: `secret-${index}-${'x'.repeat(40)}`,
  }))
  const tokens = new Tokens(known)
  // Every comparison is made: of equal tokens the last one answers.
  const twice = new Tokens([...known, { access: 'act', name: 'last', secret: known[0]?.secret ?? '' }])
  expect(twice.find(bearerOf(0))?.name).toBe('last')
  const timeOf = (header: string): number => {
    const samples = Array.from({ length: 41 }, () => {
      const start = performance.now()
      tokens.find(header)
      return performance.now() - start
    })
    return samples.toSorted((a, b) => a - b)[20] ?? 0
  }
  const [first, last, absent] = [bearerOf(0), bearerOf(1999), bearerOf(5000)].map(timeOf)
  // Stopping at the first would take a two-thousandth of the time.
  for (const time of [first, absent]) expect(time ?? 0).toBeGreaterThan((last ?? 0) / 10)

  function bearerOf(index: number): string {
    return `Bearer secret-${index}-${'x'.repeat(40)}`
  }
})
