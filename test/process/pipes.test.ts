/** What programs find at their streams on a main thread: pipes of the system. */
import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import type { CommandEnd } from '../../packages/workflow/src/process/command.js'
import type { Settings } from './main-thread.js'
import { has, hasProc, itWhere, newTag, startProgram, waitFor } from './rig.js'

const canMake = hasProc && has('mkfifo')

async function endsOf(commands: Settings['commands']): Promise<CommandEnd[]> {
  const program = startProgram('main-thread.ts', JSON.stringify({ commands } satisfies Settings))
  expect(await program.ended).toBe(0)
  return JSON.parse(program.said()) as CommandEnd[]
}

itWhere(canMake, 'Linux and mkfifo', 'streams can be opened by name, as scripts do', async () => {
  const text = 'echo a | tee /dev/stderr; echo b > /dev/stdout; cat /dev/stdin; cat /dev/stdin; readlink /proc/$$/fd/1'
  const [end] = await endsOf([{ argv: ['sh', '-c', text], tag: newTag(), stdin: 'c\n' }])
  expect(end).toMatchObject({ exitCode: 0, stderrTail: 'a\n' })
  expect(end?.stdout).toMatch(/^a\nb\nc\nc\n.*\/\d+ \(deleted\)\n$/)
})

itWhere(canMake, 'Linux and mkfifo', 'many commands at once have pipes of their own', async () => {
  const commands = Array.from({ length: 150 }, (_, index) => ({
    argv: ['sh', '-c', `cat; echo ${index}; echo e${index} >&2`],
    tag: newTag(),
    stdin: `in ${index}\n`,
  }))
  const ends = await endsOf(commands)
  expect(ends.map(({ stdout, stderrTail }) => [stdout, stderrTail])).toEqual(
    commands.map(({ stdin }, index) => [`${stdin}${index}\n`, `e${index}\n`]),
  )
})

itWhere(canMake, 'Linux and mkfifo', 'nothing is left of them when the program has ended', async () => {
  const [end] = await endsOf([{ argv: ['sh', '-c', 'readlink /proc/$$/fd/1'], tag: newTag() }])
  const [, directory = '', name = ''] = /^(.*)\/(reprise-pipes-[^/]+)\//.exec(end?.stdout ?? '') ?? []
  expect(name).not.toBe('')
  await waitFor(() => !readdirSync(directory).includes(name))
})
