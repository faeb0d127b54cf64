/** Steps that write a file. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, watch } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { WriteFileAction } from '../../packages/workflow/src/plan/plan.js'
import { writeStepFile } from '../../packages/workflow/src/steps/write-file.js'
import { contextIn, directory, file, onEnd } from './step-fixture.js'

const write = (name: string, content: WriteFileAction['content'], mode: number | null = null): WriteFileAction => ({
  kind: 'write_file',
  path: name,
  content,
  mode,
})

it('writes text as it is and data as JSON, and gives the path', async () => {
  const dir = directory()
  const context = contextIn(dir, { item: { id: 7 }, text: 'a\nb' })
  const { output } = await writeStepFile(write('out/${item.id}/a.txt', 'x ${text}'), context)
  expect(output).toBe(path.join(dir, 'out/7/a.txt'))
  expect(readFileSync(output as string, 'utf8')).toBe('x a\nb')
  await writeStepFile(write('b.json', { all: '${item}', list: ['${item.id}', 'n${item.id}'] }), context)
  expect(readFileSync(path.join(dir, 'b.json'), 'utf8')).toBe(
    '{\n  "all": {\n    "id": 7\n  },\n  "list": [\n    7,\n    "n7"\n  ]\n}\n',
  )
})

it('replaces a file as a whole: who looks sees the old or the new, and nothing is left beside it', async () => {
  const dir = directory()
  const target = file(dir, 'a.txt', 'old')
  const seen = new Set<string>()
  const watcher = watch(dir, () => seen.add(readFileSync(target, 'utf8')))
  onEnd(() => watcher.close())
  const fresh = 'new'.repeat(100_000)
  await writeStepFile(write('a.txt', fresh), contextIn(dir))
  seen.add(readFileSync(target, 'utf8'))
  expect([...seen].filter((text) => text !== 'old' && text !== fresh)).toEqual([])
  expect(readdirSync(dir)).toEqual(['a.txt'])
})

it('gives the file the mode that was asked for, else that of the file before', async () => {
  const dir = directory()
  const modeOf = (name: string): number => statSync(path.join(dir, name)).mode & 0o777
  await writeStepFile(write('secret', 'x', 0o600), contextIn(dir))
  await writeStepFile(write('open', 'x', 0o777), contextIn(dir))
  expect([modeOf('secret'), modeOf('open')]).toEqual([0o600, 0o777])
  chmodSync(path.join(dir, 'open'), 0o640)
  await writeStepFile(write('open', 'y'), contextIn(dir))
  expect(modeOf('open')).toBe(0o640)
})

it('writes through a link', async () => {
  const dir = directory()
  const target = file(dir, 'target', 'old')
  symlinkSync(target, path.join(dir, 'link'))
  await writeStepFile(write('link', 'new'), contextIn(dir))
  expect(readFileSync(target, 'utf8')).toBe('new')
  expect(readdirSync(dir)).toEqual(['link', 'target'])
})

it('refuses a directory, an empty path and a path with a NUL', async () => {
  const dir = directory()
  mkdirSync(path.join(dir, 'sub'))
  await expect(writeStepFile(write('sub', 'x'), contextIn(dir))).rejects.toThrow(/not a regular file/)
  await expect(writeStepFile(write('${none}', 'x'), contextIn(dir, { none: null }))).rejects.toThrow(/`path`.*is empty/)
  await expect(writeStepFile(write('${bad}', 'x'), contextIn(dir, { bad: 'a\0' }))).rejects.toThrow(/NUL/)
})

it('writes nothing once the signal was given', async () => {
  const dir = directory()
  const context = contextIn(dir, {}, { signal: AbortSignal.abort(new Error('stop')) })
  await expect(writeStepFile(write('a', 'x'), context)).rejects.toThrow('stop')
  expect(readdirSync(dir)).toEqual([])
})

it('leaves nothing behind where it cannot put the file', async () => {
  const dir = directory()
  const name = 'n'.repeat(300)
  await expect(writeStepFile(write(name, 'x'), contextIn(dir))).rejects.toThrow(/ENAMETOOLONG/)
  expect(readdirSync(dir)).toEqual([])
})
