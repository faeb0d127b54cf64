/** Maps with `isolation: worktree` and `directory`, on a real git repository. Needs no build. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { letterGroups, letterStats } from '../../packages/workflow/src/operate/letters/letter-groups.js'
import { letterView } from '../../packages/workflow/src/operate/letters/letter-view.js'
import { MapFixture } from './map-fixture.js'

/** A fixture whose directory is a repository with one commit. */
async function repository(kind: 'sqlite' | 'postgres' = 'sqlite'): Promise<MapFixture> {
  const fixture = await MapFixture.in(kind)
  git(fixture, 'init', '--quiet', '--initial-branch', 'main')
  git(fixture, 'config', 'user.name', 'Ada')
  git(fixture, 'config', 'user.email', 'ada@example.com')
  fixture.write('.gitignore', 'state\nledger.db*\n')
  for (const name of ['a', 'b', 'c', 'd']) fixture.write(`${name}.txt`, `${name}\n`)
  fixture.write('shared.txt', 'one\ntwo\nthree\n')
  git(fixture, 'add', '.')
  git(fixture, 'commit', '--quiet', '-m', 'begin')
  return fixture
}

function git({ directory }: MapFixture, ...args: string[]): string {
  return execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim()
}

const branchesOf = (fixture: MapFixture): string[] =>
  git(fixture, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n')
const treesOf = (fixture: MapFixture): number =>
  git(fixture, 'worktree', 'list', '--porcelain').match(/^worktree /gm)?.length ?? 0
const mergedItems = (fixture: MapFixture, of = 'HEAD'): string[] =>
  git(fixture, 'log', '--first-parent', '--format=%(trailers:key=Reprise-Item,valueonly,separator=%x2C)', of)
    .split('\n')
    .flatMap((line) => line.split(','))
    .filter(Boolean)
    .toSorted()

describe('a map in working trees', () => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())

  test('21: merges what each item did, and brings it to the directory of the run', async () => {
    fixture = await repository()
    const state = await fixture.run({
      map: {
        input: ['a', 'b', 'c', 'd'],
        isolation: 'worktree',
        max_parallel: 2,
        agent_template: [
          { shell: 'echo "more of ${item}" >> ${item}.txt; git add -A; echo "new ${item}" > new-${item}.txt' },
        ],
      },
      merge: [{ shell: 'cat ?.txt new-?.txt > all' }],
    })
    expect(state).toBe('succeeded')
    expect(fixture.read('all')).toBe(
      'a\nmore of a\nb\nmore of b\nc\nmore of c\nd\nmore of d\nnew a\nnew b\nnew c\nnew d\n',
    )
    expect(mergedItems(fixture)).toEqual(['0000000.a', '0000001.b', '0000002.c', '0000003.d'])
    expect(branchesOf(fixture)).toEqual(['main'])
    expect(treesOf(fixture)).toBe(1)
    expect(git(fixture, 'log', '-1', '--format=%an')).toBe('Ada')
  })

  test('21: leaves no merge for an item that changed nothing, and keeps what it gave', async () => {
    fixture = await repository()
    await fixture.run({
      map: { input: ['a'], isolation: 'worktree', agent_template: [{ shell: 'cat ${item}.txt', capture: 'text' }] },
    })
    expect(fixture.results()[0]?.result).toBe('a')
    expect(mergedItems(fixture)).toEqual([])
    expect(branchesOf(fixture)).toEqual(['main'])
  })

  test('21: a conflict fails the item, is not retried, and keeps the branch that the dead letter names', async () => {
    fixture = await repository()
    const wait = 'touch "$GO/${item}"; for i in $(seq 1 200); do [ $(ls "$GO" | wc -l) = 2 ] && break; sleep 0.05; done'
    const state = await fixture.run({
      env: { GO: path.join(fixture.directory, 'state', 'go') },
      setup: [{ shell: 'mkdir -p "$GO"' }],
      map: {
        input: ['x', 'y'],
        isolation: 'worktree',
        agent_template: [{ shell: `${wait}; printf 'one\\n%s\\nthree\\n' "\${item}" > shared.txt` }],
      },
      error_policy: { item_retry: { attempts: 3, initial_delay: '1ms' } },
    })
    expect(state).toBe('completed_with_failures')
    const dead = fixture.results().filter(({ state: how }) => how === 'dead')
    expect(dead).toHaveLength(1)
    expect(dead[0]?.attempts).toBe(1)
    const [, branch = ''] =
      /merge conflict in shared\.txt: the work is kept on branch (\S+)/.exec(dead[0]?.error ?? '') ?? []
    expect(branchesOf(fixture)).toContain(branch)
    expect(git(fixture, 'show', `${branch}:shared.txt`)).toBe(`one\n${dead[0]?.key}\nthree`)
    const done = fixture.results().find(({ state: how }) => how === 'succeeded')
    expect(fixture.read('shared.txt')).toBe(`one\n${done?.key}\nthree\n`)
    // A redrive does the item again on what was merged, so it is no use only for what says the same again.
    const told = await fixture.look(async (ledger) => ({
      letters: (await ledger.deadLetters()).map((letter) => letterView(letter, undefined)),
      groups: await letterGroups(ledger, {}),
      stats: await letterStats(ledger, {}),
    }))
    expect(told.letters.map(({ retry }) => retry.makesSense)).toEqual([true])
    expect(told.letters[0]?.retry.why).toMatch(/done again on what has been merged/)
    expect(told.groups.map(({ retryableShare }) => retryableShare)).toEqual([1])
    expect(told.stats).toMatchObject({ open: 1, retryable: 1 })
    expect(treesOf(fixture)).toBe(1)
  })

  test('21: what a failed attempt did stays on its branch, and the next attempt begins without it', async () => {
    fixture = await repository()
    await fixture.run({
      map: {
        input: ['a'],
        isolation: 'worktree',
        agent_template: [{ shell: 'ls > seen-$REPRISE_ATTEMPT; [ $REPRISE_ATTEMPT = 2 ]' }],
      },
      error_policy: { item_retry: { attempts: 2, initial_delay: '1ms' } },
    })
    expect(fixture.read('seen-2')).not.toContain('seen-1')
    const kept = branchesOf(fixture).filter((name) => name.startsWith('reprise/'))
    expect(kept).toEqual([expect.stringMatching(/^reprise\/import-1-[0-9a-f]{8}\/map\/0000000-1\.1\.1$/)])
    expect(git(fixture, 'show', '--name-only', '--format=%s', kept[0] ?? '')).toBe('Unfinished: a\n\nseen-1')
  })

  test('21: works in the directory of the run within the repository', async () => {
    fixture = await repository()
    const document = {
      map: {
        input: ['a'],
        isolation: 'worktree',
        agent_template: [{ shell: 'git rev-parse --show-prefix; touch here', capture: 'at' }],
      },
    }
    await fixture.run(document)
    expect(fixture.results()[0]?.result).toBe('')
    expect(existsSync(path.join(fixture.directory, 'here'))).toBe(true)
  })

  test('21: merges beside what a person has committed meanwhile', async () => {
    fixture = await repository()
    await fixture.run({
      map: {
        input: ['a'],
        isolation: 'worktree',
        agent_template: [
          { shell: `echo more >> a.txt; cd ${fixture.directory}; echo x > mine; git add mine; git commit -qm mine` },
        ],
      },
    })
    expect(fixture.read('a.txt')).toBe('a\nmore\n')
    expect(fixture.read('mine')).toBe('x\n')
  })

  test('21: fails the map where the work cannot be brought over, and goes on once a person has merged it', async () => {
    fixture = await repository()
    const document = {
      map: {
        input: ['a'],
        isolation: 'worktree',
        agent_template: [
          { shell: `echo theirs > a.txt; cd ${fixture.directory}; echo mine > a.txt; git commit -qam mine` },
        ],
      },
      reduce: [{ shell: 'touch reduced' }],
    }
    expect(await fixture.run(document)).toBe('failed')
    const message = fixture.end.failure?.message ?? ''
    expect(message).toMatch(/a\.txt were changed on both sides. Run `git merge reprise\//)
    expect(fixture.read('a.txt')).toBe('mine\n')
    const [, branch = ''] = /git merge (\S+?)`/.exec(message) ?? []
    git(fixture, 'merge', '--quiet', '-X', 'ours', '-m', 'joined', branch)
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(existsSync(path.join(fixture.directory, 'reduced'))).toBe(true)
  })

  test('21: a batch has one tree and one merge, and a conflict splits it', async () => {
    fixture = await repository()
    const shell = [
      'if [ $REPRISE_BATCH_SIZE -gt 1 ]; then',
      `  (cd ${fixture.directory}; echo taken > shared.txt; git commit -qam taken; git update-ref $(git for-each-ref --format='%(refname)' 'refs/heads/reprise/*/*/merged') HEAD)`,
      'fi',
      `for name in $(sed 's/.*"key":"\\([a-z]\\)".*/\\1/' "$REPRISE_ITEMS_FILE"); do echo "$name" > new-$name; done`,
      '[ $REPRISE_BATCH_SIZE = 1 ] || echo ours > shared.txt',
    ].join('\n')
    const state = await fixture.run({
      map: {
        input: [{ id: 'a' }, { id: 'b' }],
        batch: 2,
        isolation: 'worktree',
        max_parallel: 1,
        agent_template: [{ shell }],
      },
    })
    expect(state).toBe('succeeded')
    expect(fixture.read('shared.txt')).toBe('taken\n')
    expect([fixture.read('new-a'), fixture.read('new-b')]).toEqual(['a\n', 'b\n'])
    expect(mergedItems(fixture)).toEqual(['0000000.a', '0000001.b'])
    const kept = branchesOf(fixture).find((name) => name.endsWith('/0000000+1-1.1.1'))
    expect(fixture.told('map_note').map(({ message }) => message)).toEqual([
      `a batch is split, and its items run again alone: merge conflict in shared.txt: the work is kept on branch ${kept}`,
    ])
  })

  test('21: a batch is merged once, with the items that succeeded in it', async () => {
    fixture = await repository()
    const shell = `for name in a b c; do echo $name > new-$name; done; printf '{"key":"b","error":"no"}\\n' >> "$REPRISE_RESULTS"`
    await fixture.run({
      map: {
        input: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
        batch: 3,
        isolation: 'worktree',
        agent_template: [{ shell }],
      },
    })
    expect(fixture.results().map(({ state }) => state)).toEqual(['succeeded', 'dead', 'succeeded'])
    expect(mergedItems(fixture)).toEqual(['0000000.a', '0000002.c'])
  })
})

describe('a map in working trees is refused before anything starts', () => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())
  const document = { map: { input: ['a'], isolation: 'worktree', agent_template: [{ shell: 'touch ran' }] } }
  const expectNothing = async (): Promise<void> => {
    expect(fixture.read('ran')).toBe('')
    expect(await fixture.look((ledger) => ledger.run('import-1'))).toBeUndefined()
  }

  test('21: outside a repository', async () => {
    fixture = await MapFixture.in('sqlite')
    await expect(fixture.run(document)).rejects.toMatchObject({
      code: 'no_worktrees',
      message: expect.stringMatching(/`isolation: worktree`, and .* is in no git repository/),
      suggestion: expect.stringMatching(/git init/),
    })
    await expectNothing()
  })

  test('21: in a repository without a commit', async () => {
    fixture = await MapFixture.in('sqlite')
    git(fixture, 'init', '--quiet')
    await expect(fixture.run(document)).rejects.toThrow(/has no commit yet/)
  })

  test('21: with changes that are not committed', async () => {
    fixture = await repository()
    fixture.write('a.txt', 'changed\n')
    await expect(fixture.run(document)).rejects.toMatchObject({
      message: expect.stringMatching(/has changes that are not committed \(a\.txt\): the items would not see them/),
      suggestion: expect.stringMatching(/git stash/),
    })
    await expectNothing()
    fixture.write('a.txt', 'a\n')
    fixture.write('unknown.txt', 'git does not know it\n')
    expect(await fixture.run(document)).toBe('succeeded')
  })

  test('21: with PostgreSQL', async () => {
    fixture = await repository('postgres')
    await expect(fixture.run(document)).rejects.toMatchObject({
      message: expect.stringMatching(/agents on other machines/),
      suggestion: expect.stringMatching(/isolation: directory/),
    })
    await expectNothing()
  })

  test('21: with checkpoints, when the document is read', async () => {
    fixture = await repository()
    const map = { ...document.map, checkpoint: 'step' }
    await expect(fixture.run({ map })).rejects.toThrow(/does not go with `isolation: worktree`/)
  })

  test('21: an earlier step that leaves changes fails the map', async () => {
    fixture = await repository()
    expect(await fixture.run({ ...document, setup: [{ shell: 'echo more >> a.txt' }] })).toBe('failed')
    expect(fixture.end.failure?.message).toMatch(/a\.txt is changed and not committed: let the step before it commit/)
  })
})

describe('a map in directories', () => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())

  test.each(['sqlite', 'postgres'] as const)(
    '21: gives each attempt an empty one, and keeps that of a failure, on %s',
    async (kind) => {
      fixture = await MapFixture.in(kind)
      await fixture.run({
        map: {
          input: ['a', 'b'],
          isolation: 'directory',
          agent_template: [{ shell: 'ls >> "$REPRISE_RUN_DIRECTORY/seen"; touch ${item}; [ ${item} = a ]' }],
        },
        error_policy: { item_retry: { attempts: 2, initial_delay: '1ms' } },
      })
      expect(fixture.lines('seen')).toEqual([])
      const kept = readdirSync(path.join(fixture.directory, 'state/runs/import-1/map/directories'))
      expect(kept).toEqual(['0000001.b@1.1.1', '0000001.b@1.2.1'])
    },
  )
})
