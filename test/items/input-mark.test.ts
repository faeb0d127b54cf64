/** Point 6 of map/reduce: a resume tells if the input has changed since its items were read. */
import { appendFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { inputChange, inputMark } from '../../packages/workflow/src/items/input-mark.js'
import type { MapInput } from '../../packages/workflow/src/plan/map-plan.js'
import { directoryOf, sourcesOf } from './items-of.js'

describe('the mark of a file', () => {
  it('tells a change of its content, and not of its time alone', async () => {
    const documentDir = directoryOf({ 'items.json': '[1, 2]' })
    const sources = sourcesOf({ documentDir, values: { name: 'items' } })
    const input: MapInput = { kind: 'file', path: '${name}.json', format: null }
    const mark = (await inputMark(input, sources))!
    expect(JSON.parse(JSON.stringify(mark))).toEqual(mark)
    const change = () => inputChange(mark, input, sources)
    const file = path.join(documentDir, 'items.json')
    expect(await change()).toBeNull()
    utimesSync(file, 1, 1)
    expect(await change()).toBeNull()
    writeFileSync(file, '[1, 3]')
    utimesSync(file, 2, 2)
    expect(await change()).toBe('items.json has other contents than before')
    appendFileSync(file, '\n')
    expect(await change()).toBe('items.json had 6 bytes, and has 7 now')
    rmSync(file)
    expect(await change()).toBe('items.json cannot be read any more')
    expect(await inputMark(input, sources)).toBeNull()
  })
})

describe('the mark of a glob', () => {
  it('tells other paths, and not other contents', async () => {
    const documentDir = directoryOf({ 'a.ts': '', 'b.ts': '' })
    const sources = sourcesOf({ documentDir })
    const input: MapInput = { kind: 'glob', patterns: ['*.ts'] }
    const mark = (await inputMark(input, sources))!
    writeFileSync(path.join(documentDir, 'a.ts'), 'changed')
    expect(await inputChange(mark, input, sources)).toBeNull()
    writeFileSync(path.join(documentDir, 'c.ts'), '')
    expect(await inputChange(mark, input, sources)).toBe('the patterns matched 2 paths, and match 3 now')
    rmSync(path.join(documentDir, 'a.ts'))
    expect(await inputChange(mark, input, sources)).toBe('the patterns match other paths than before, again 2')
  })
})

it('an input that cannot be compared later has no mark', async () => {
  for (const input of [
    { kind: 'stdin', format: null },
    { kind: 'command', action: { kind: 'shell', command: 'ls' }, format: null },
    { kind: 'range', from: 1, to: 2, step: 1 },
    { kind: 'list', items: [1] },
  ] satisfies MapInput[]) {
    expect(await inputMark(input, sourcesOf())).toBeNull()
  }
})
