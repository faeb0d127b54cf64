/**
 * Which words of `retry_on` fit what real programs print. `tool-outputs` has a file for each tool: `## Recorded` are real
 * outputs against a local server that answered with a status, hung, or closed the connection; `## As documented` are
 * messages that need a real service. A header is `### WORDS | exit CODE | COMMAND`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { normalizePolicy } from 'reprise'
import { isRetryable } from 'reprise/core'
import { describe, expect, it } from 'vitest'

interface Output {
  readonly words: string
  readonly exitCode: number
  readonly command: string
  readonly text: string
}

const WORDS = ['network', 'timeout', 'server_error', 'rate_limit'] as const
const directory = new URL('tool-outputs/', import.meta.url)
const tools = readdirSync(directory)

function outputsOf(file: string): Output[] {
  return readFileSync(new URL(file, directory), 'utf8')
    .split(/^### /m)
    .slice(1)
    .map((block) => {
      const [header = '', ...lines] = block.split('\n')
      const [words = '', exit = '', ...command] = header.split(' | ')
      const text = lines.filter((line) => !line.startsWith('## ')).join('\n')
      return { words, exitCode: Number(exit.replace('exit ', '')), command: command.join(' | '), text: text.trim() }
    })
}

/** As a failed command of a workflow is: the message has the last lines of what it printed. */
function wordsFor({ exitCode, text }: Output): string {
  const message = `exit code ${exitCode}: ${text.split('\n').at(-1)}`
  const error = Object.assign(new Error(message), { name: 'CommandError', exitCode, stderr: `${text}\n`, stdout: '' })
  const fits = WORDS.filter((word) => {
    const { policy } = normalizePolicy({ retryOn: [word] })
    return isRetryable(policy, error, { key: 'x', attempt: 1, launch: 1, kind: 'retry' })
  })
  return fits.join(' ') || 'nothing'
}

describe.each(tools)('of what is in %s', (file) => {
  const outputs = outputsOf(file)

  it('there are failures that are worth a retry and failures that are not', () => {
    expect(outputs.some(({ words }) => words === 'nothing')).toBe(true)
    expect(outputs.some(({ words }) => words !== 'nothing')).toBe(true)
  })

  it.each(outputs)('$words in retry_on fits `$command` ($text)', (output) => {
    expect(wordsFor(output)).toBe(output.words)
  })
})
