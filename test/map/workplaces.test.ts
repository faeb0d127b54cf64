/**
 * Working trees by themselves, with processes that do not know of each other: each is a `Workplaces` of its own on one
 * repository, and executions of one item run in several of them. Imports Node and the places.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ownIdentity } from '../../packages/reprise/src/durable/identity.js'
import { RepositoryLock } from '../../packages/workflow/src/workplaces/repository-lock.js'
import { openWorktrees } from '../../packages/workflow/src/workplaces/worktrees.js'
import {
  type Done,
  MergedBeforeError,
  type Workplace,
  type Workplaces,
  type WorkRequest,
} from '../../packages/workflow/src/workplaces/workplaces.js'
import { turns } from '../durable/process-model.js'

let directory: string
const at = (name: string): string => path.join(directory, name)
const git = (...args: string[]): string => execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim()

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'reprise-places-'))
  git('init', '--quiet', '--initial-branch', 'main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.com')
  writeFileSync(at('.gitignore'), 'state\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'begin')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const BASE = (): string => git('rev-list', '--max-parents=0', 'HEAD')

function open(): Promise<Workplaces> {
  mkdirSync(at('state'), { recursive: true })
  const where = { cwd: directory, directory: at('state'), run: 'r', map: 'm', correlationId: '12345678-90ab' }
  return openWorktrees({ ...where, base: BASE(), most: 2, isGuest: false })
}

function requestOf(item: number, execution: number, signal = new AbortController().signal): WorkRequest {
  const id = `${String(item).padStart(7, '0')}.i${item}`
  const attempt = { taskId: id, generation: 1, attempt: 1, execution }
  return { items: [{ id, key: `i${item}` }], attempt, signal }
}

/** Adds a line to the file of the item; how it was done is what the item gives. */
function adding(item: number, by: string): (place: Workplace) => Promise<Done<string>> {
  return async ({ cwd = '' }) => {
    writeFileSync(path.join(cwd, `file-${item}`), `by ${by}\n`, { flag: 'a' })
    await turns(1)
    return {
      value: by,
      items: [requestOf(item, 1).items[0]?.id ?? ''],
      outcome: { [requestOf(item, 1).items[0]?.id ?? '']: by },
    }
  }
}

/** What the item gave, whichever execution merged it. */
async function given(places: Workplaces, request: WorkRequest, item: number, by: string): Promise<unknown> {
  const id = request.items[0]?.id ?? ''
  const before = await places.finished(request)
  if (before.has(id)) return before.get(id)
  try {
    return await places.use(request, adding(item, by))
  } catch (error) {
    if (error instanceof MergedBeforeError) return error.outcomes.get(id)
    throw error
  }
}

const mergedItems = (): string[] =>
  git('log', '--merges', '--format=%(trailers:key=Reprise-Item,valueonly)', 'HEAD').split('\n').filter(Boolean)

describe('working trees of several processes', () => {
  test('are not replaced by the repository around them when somebody removes one', async () => {
    const places = await open()
    await places.use(requestOf(1, 1), adding(1, 'one'))
    const [tree = ''] = readdirSync(at('state/trees')).filter((name) => !/\.owner$|^outcomes$/.test(name))
    rmSync(at(`state/trees/${tree}/.git`))
    writeFileSync(at('.gitignore'), 'state\nchanged by a person\n')
    writeFileSync(at('precious'), 'not committed\n')
    await expect(places.use(requestOf(2, 1), adding(2, 'two'))).rejects.toThrow(/not a git repository/)
    // The next attempt has another tree, and its commands are in that one too.
    const seen: Readonly<Record<string, string>>[] = []
    await places.use(requestOf(2, 2), async (place) => {
      seen.push(place.variables)
      return adding(2, 'two')(place)
    })
    expect(seen[0]?.['GIT_CEILING_DIRECTORIES']).toBe(at('state/trees'))
    expect(git('symbolic-ref', '--short', 'HEAD')).toBe('main')
    expect(readFileSync(at('.gitignore'), 'utf8')).toContain('changed by a person')
    expect(readFileSync(at('precious'), 'utf8')).toBe('not committed\n')
    git('checkout', '--quiet', '.gitignore')
    await places.land(true)
    await places.close()
    expect(readFileSync(at('file-2'), 'utf8')).toBe('by two\n')
  })

  test('leave alone a tree whose process has not written its mark to the end', async () => {
    await (await open()).close()
    const lock = new RepositoryLock(at('.git'))
    const mark = at('state/trees/other-0.owner')
    let opening: Promise<Workplaces> | undefined
    await lock.hold(async () => {
      mkdirSync(at('state/trees'), { recursive: true })
      writeFileSync(mark, '')
      opening = open()
      // It has looked, and waits for the lock.
      while (!readdirSync(at('.git')).some((name) => /^reprise\.lock\.[^.]+$/.test(name))) await turns(1)
      git('worktree', 'add', '--quiet', '--detach', at('state/trees/other-0'))
      writeFileSync(mark, JSON.stringify(ownIdentity()))
    })
    await (await opening)?.close()
    expect([existsSync(at('state/trees/other-0/.git')), existsSync(mark)]).toEqual([true, true])
  })

  test('merge an item once, and every execution gets what the merged one gave', { timeout: 120_000 }, async () => {
    const plan = fc.array(fc.tuple(fc.nat(3), fc.nat(1)), { minLength: 4, maxLength: 9 })
    let round = 0
    await fc.assert(
      fc.asyncProperty(plan, async (executions) => {
        rmSync(at('state'), { recursive: true, force: true })
        git('worktree', 'prune')
        for (const ref of git('for-each-ref', '--format=%(refname)', 'refs/heads/reprise').split('\n').filter(Boolean))
          git('update-ref', '-d', ref)
        git('reset', '--quiet', '--hard', BASE())
        round++
        const processes = [await open(), await open()]
        const seen = new Map<number, Set<unknown>>()
        const count = new Map<number, number>()
        await Promise.all(
          executions.map(async ([item, process]) => {
            const execution = (count.get(item) ?? 0) + 1
            count.set(item, execution)
            const places = processes[process] ?? (await open())
            const by = `${round}/${item}.${execution}`
            const result = await given(places, requestOf(item, execution), item, by)
            seen.set(item, (seen.get(item) ?? new Set()).add(result))
          }),
        )
        await processes[0]?.land(false)
        await Promise.all(processes.map((places) => places.close()))
        for (const [item, results] of seen) {
          expect([...results]).toHaveLength(1)
          expect(readFileSync(at(`file-${item}`), 'utf8')).toBe(`by ${String([...results][0])}\n`)
        }
        const merged = mergedItems()
        expect(new Set(merged).size).toBe(merged.length)
        expect(merged).toHaveLength(seen.size)
        // The work of the others is on their branches.
        const kept = git('log', '--branches', '--not', 'main', '--format=%s').split('\n').filter(Boolean)
        expect(kept.length).toBeLessThanOrEqual(executions.length - seen.size)
        expect(git('worktree', 'list').split('\n')).toHaveLength(1)
      }),
      { numRuns: Number(process.env['RUNS'] ?? 3), seed: Number(process.env['SEED'] ?? 1), endOnFailure: true },
    )
  })

  test('merge nothing of an attempt that has ended meanwhile, and keep its work', async () => {
    const places = await open()
    const late = new AbortController()
    const work = places.use(requestOf(1, 1, late.signal), async (place) => {
      const done = await adding(1, 'late')(place)
      late.abort(new Error('out of time'))
      return done
    })
    await expect(work).rejects.toThrow('out of time')
    await places.land(false)
    await places.close()
    expect(existsSync(at('file-1'))).toBe(false)
    const [branch = ''] = git('for-each-ref', '--format=%(refname:short)', 'refs/heads/reprise/*/m/000*').split('\n')
    expect(git('show', `${branch}:file-1`)).toBe('by late')
  })

  test('wait for trees of attempts that are ending, in place of adding more than there may be', async () => {
    const places = await open()
    const controllers = [new AbortController(), new AbortController()]
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const ending = controllers.map(({ signal }, index) =>
      places
        .use(requestOf(index, 1, signal), async () => {
          await held
          throw new Error('stopped')
        })
        .catch(() => undefined),
    )
    const trees = (): number => git('worktree', 'list').split('\n').length - 1
    while (trees() < 2) await turns(5)
    for (const one of controllers) one.abort()
    const next = places.use(requestOf(5, 1), adding(5, 'next'))
    for (let look = 0; look < 20; look++) {
      await turns(5)
      expect(trees()).toBe(2)
    }
    release()
    expect(await next).toBe('next')
    await Promise.all(ending)
    await places.close()
    expect(trees()).toBe(0)
  })
})

describe('the lock of a repository', () => {
  test('is held by one at a time, in one process and over two', async () => {
    const locks = [new RepositoryLock(directory), new RepositoryLock(directory)]
    let [inside, most] = [0, 0]
    const act = async (): Promise<void> => {
      most = Math.max(most, ++inside)
      await turns(3)
      inside--
    }
    await Promise.all(Array.from({ length: 20 }, (_, index) => locks[index % 2]?.hold(act)))
    expect(most).toBe(1)
    expect(existsSync(at('reprise.lock'))).toBe(false)
  })

  test('is taken over from a process that is gone, and from one that was cut off while it wrote', async () => {
    const lock = new RepositoryLock(directory)
    for (const left of [
      '',
      '{"pid":',
      JSON.stringify({ id: 'x', host: 'no-such-host', pid: 1, processStart: '1', bootId: '/' }),
    ]) {
      writeFileSync(at('reprise.lock'), left)
      const held = lock.hold(() => Promise.resolve('held'))
      if (left.includes('no-such-host')) {
        // Of another machine nobody can tell: it is waited for.
        await turns(20)
        rmSync(at('reprise.lock'))
      }
      expect(await held).toBe('held')
    }
  })
})
