/**
 * A git repository for the command line to work in, with a `git` before the real one that kills its caller at a named
 * place; and what is left in the repository. Imports Node and the command-line fixture.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CliFixture } from '../workflow/cli-fixture.js'

/** Kills the process that called it, once: before or after the call whose arguments match. */
const KILLER = `#!/bin/sh
# A branch that is made moves from nothing.
none=0000000000000000000000000000000000000000
real=$(PATH="$PLAIN_PATH" command -v git)
hit() { [ -n "$KILL_PATTERN" ] && [ ! -e "$KILL_DONE" ] && case " $* " in *" $none "*) false ;; *$KILL_PATTERN*) true ;; *) false ;; esac; }
if [ "$KILL_WHEN" = before ] && hit "$@"; then : > "$KILL_DONE"; kill -9 $PPID; exit 1; fi
PATH="$PLAIN_PATH" "$real" "$@"
code=$?
if [ "$KILL_WHEN" = after ] && hit "$@"; then : > "$KILL_DONE"; kill -9 $PPID; fi
exit $code
`

export class GitScene {
  private readonly cli: CliFixture

  constructor(cli: CliFixture, files: Readonly<Record<string, string>>) {
    this.cli = cli
    this.git('init', '--quiet', '--initial-branch', 'main')
    this.git('config', 'user.name', 'Ada')
    this.git('config', 'user.email', 'ada@example.com')
    for (const [name, text] of Object.entries(files)) cli.write(name, text)
    this.git('add', '--', ...Object.keys(files))
    this.git('commit', '--quiet', '-m', 'begin')
  }

  /** The next processes are killed at the call whose arguments match the pattern of the shell. */
  killAt(pattern: string, when: 'before' | 'after'): void {
    const bin = this.cli.path('bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(path.join(bin, 'git'), KILLER)
    chmodSync(path.join(bin, 'git'), 0o755)
    const plain = process.env['PATH'] ?? ''
    Object.assign(this.cli.env, {
      PATH: `${bin}:${plain}`,
      PLAIN_PATH: plain,
      KILL_PATTERN: pattern,
      KILL_WHEN: when,
      KILL_DONE: this.cli.path('killed'),
    })
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.cli.directory, encoding: 'utf8' }).trim()
  }

  /** Ids of the items of all merges that a commit has, in order. */
  merged(of = 'HEAD'): string[] {
    const text = this.git('log', '--format=%(trailers:key=Reprise-Item,valueonly,separator=%x2C)', of)
    return text
      .split('\n')
      .flatMap((line) => line.split(','))
      .filter(Boolean)
      .toSorted()
  }

  /** Our branches. */
  branches(): string[] {
    return this.git('for-each-ref', '--format=%(refname:short)', 'refs/heads/reprise').split('\n').filter(Boolean)
  }

  /** Working trees beside the one of the run. */
  trees(): number {
    return (this.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length ?? 0) - 1
  }

  /** Files that any commit of any branch has. */
  everCommitted(): ReadonlySet<string> {
    return new Set(this.git('log', '--all', '--format=', '--name-only').split('\n'))
  }
}
