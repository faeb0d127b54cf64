/** Links within the repository lead somewhere: to a file that is there, and to a heading of it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './fences.js'

const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...['docs', 'docs/design'].flatMap((directory) =>
    readdirSync(path.join(ROOT, directory))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${directory}/${name}`),
  ),
  ...['cli', 'dashboard', 'jobs', 'reprise', 'workflow'].map((name) => `packages/${name}/README.md`),
].filter((page) => existsSync(path.join(ROOT, page)))

const withoutFences = (text: string): string => text.replaceAll(/^( *)(`{3,}).*?^\1\2 *$/gms, '')
const textOf = (page: string): string => withoutFences(readFileSync(path.join(ROOT, page), 'utf8'))

/** As GitHub makes them of headings. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, title = ''] of textOf(page).matchAll(/^#{1,6} +(.+)$/gm)) {
    const plain = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

function brokenIn(page: string): string[] {
  return [...textOf(page).matchAll(/(?<!`)\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#')
      const found = file === '' ? page : path.posix.join(path.posix.dirname(page), file)
      const full = path.join(ROOT, found)
      if (!existsSync(full)) return true
      return anchor !== undefined && statSync(full).isFile() && found.endsWith('.md') && !anchorsOf(found).has(anchor)
    })
}

test.each(pages)('links of %s lead somewhere', (page) => {
  expect(brokenIn(page)).toEqual([])
})

test('ARCHITECTURE.md stays short enough to read whole: at most 2,500 words', () => {
  const words = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8').split(/\s+/).length
  expect(words).toBeLessThanOrEqual(2500)
})
