/** What the page of a package says on npm: its manifest and its README. Needs a build. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { PACKAGES, pack, root } from './packed.js'

interface Manifest {
  readonly description: string
  readonly keywords: readonly string[]
  readonly license: string
  readonly homepage: string
  readonly repository: { readonly type: string; readonly url: string; readonly directory?: string }
  readonly bugs: { readonly url: string }
  readonly files: readonly string[]
  readonly engines: object
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const manifestOf = (directory: string): Manifest =>
  JSON.parse(readFileSync(path.join(root, directory, 'package.json'), 'utf8')) as Manifest

/** The one place where the address of the repository is chosen. */
const workspace = manifestOf('.')
const web = workspace.repository.url.replace(/^git\+(https:.+)\.git$/, '$1')

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-manifest-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Targets of links and pictures, not those in fences. */
function linksOf(markdown: string): string[] {
  const text = markdown.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
  return [...text.matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, target = '']) => target)
}

describe.each(PACKAGES)('the package in packages/%s', (name) => {
  const manifest = manifestOf(`packages/${name}`)

  it('says what it is, and where it comes from as the workspace does', () => {
    const { repository, engines, license } = workspace
    expect(manifest).toMatchObject({
      license,
      engines,
      repository: { ...repository, directory: `packages/${name}` },
      homepage: `${web}/tree/main/packages/${name}#readme`,
      bugs: { url: `${web}/issues` },
    })
    expect(manifest.description).toMatch(/^[A-Z].{30,160}\.$/)
    expect(manifest.keywords.length).toBeGreaterThanOrEqual(5)
    expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'README.md', 'LICENSE']))
  })

  it('has a page without a dead link', () => {
    const { files } = pack(name, directory)
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']))
    const relative = linksOf(readFileSync(path.join(root, 'packages', name, 'README.md'), 'utf8')).filter(
      (target) => !/^(https:\/\/|#)/.test(target),
    )
    expect(relative.filter((target) => !files.includes(target.replace(/#.*$/, '')))).toEqual([])
  })
})

it('the command line brings a driver that needs no compiler, and the library names all drivers', () => {
  const cli = manifestOf('packages/cli')
  const library = manifestOf('packages/reprise')
  // The newer line refuses Node 20. Optional: on a system without a build of it Node's own SQLite has to do.
  expect(cli.optionalDependencies).toEqual({ '@photostructure/sqlite': '~1.2.1' })
  expect(Object.keys(library.peerDependencies ?? {})).toEqual(
    expect.arrayContaining(['@photostructure/sqlite', 'better-sqlite3', 'pg']),
  )
  expect(library.dependencies ?? {}).toEqual({})
})
