/**
 * Writes `packages/NAME/api/ENTRY.d.ts`, one file for each entry of a package: the names it exports, their declarations,
 * and the declarations that these refer to. `npm run api` builds the declarations first; `test/package/api.test.ts`
 * compares. A change of what programs can rely on is thus seen in review, and none is made by accident.
 *
 * Comments and private members are left out: neither is a promise.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { augmentationsOf, closureOf, exportsOf, isTypeOnly, textOf } from './declarations.mjs'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const WIDTH = 120

/**
 * @typedef {import('./declarations.mjs').Target} Target
 * @typedef {import('./declarations.mjs').Declaration} Declaration
 * @typedef {{ name: string, file: string, root: string, exported: Map<string, Target> }} Entry
 * @typedef {{ entry: string, file: string, values: string[], types: string[], text: string }} Snapshot
 *   `file` is relative to the directory `packages`
 */

/** Of every entry of every package that has types. @returns {Snapshot[]} */
export function snapshots() {
  return readdirSync(packages)
    .toSorted(compare)
    .flatMap((name) => snapshotsOf(path.join(packages, name)))
}

/** @param {string} directory of a package that is built @returns {Snapshot[]} */
export function snapshotsOf(directory) {
  const entries = entriesOf(directory)
  const homes = homesOf(entries)
  // What a stable entry refers to is promised with it, wherever else it is exported.
  const stable = homesOf(entries.filter(({ name }) => !isInternal(name)))
  return entries.map((entry) => snapshotOf(entry, isInternal(entry.name) ? homes : stable))
}

/** @param {string} entry */
export const isInternal = (entry) => /\/internal(\/|$)/.test(entry)

/** The entries that programs can rely on, of every package. @returns {Entry[]} */
export function stableEntries() {
  return readdirSync(packages)
    .toSorted(compare)
    .flatMap((name) => entriesOf(path.join(packages, name)))
    .filter(({ name }) => !isInternal(name))
}

/** @param {string} directory @returns {Entry[]} */
function entriesOf(directory) {
  const manifest = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8'))
  return Object.entries(manifest.exports ?? {})
    .filter(([, target]) => target.types !== undefined)
    .map(([subpath, { types }]) => ({
      name: manifest.name + subpath.slice(1),
      file: `${path.basename(directory)}/api/${subpath === '.' ? 'index' : subpath.slice(2).replaceAll('/', '-')}.d.ts`,
      root: path.join(directory, 'dist/types'),
      exported: exportsOf(path.join(directory, types)),
    }))
}

/**
 * The entry that exports a declaration, for entries that only refer to it: the first, so a stable one if there is one.
 * @param {readonly Entry[]} entries
 */
function homesOf(entries) {
  /** @type {Map<string, Target>} */
  const homes = new Map()
  for (const { name: entry, exported } of entries) {
    for (const [name, target] of exported) {
      if (!homes.has(idOf(target))) homes.set(idOf(target), { file: entry, name, isType: true })
    }
  }
  return homes
}

/** @param {{ readonly file: string, readonly name: string }} target */
const idOf = ({ file, name }) => `${file}#${name}`

/** @param {Entry} entry @param {Map<string, Target>} homes @returns {Snapshot} */
function snapshotOf({ name: entry, file, root, exported }, homes) {
  const names = [...exported]
  const typeNames = names.filter(([, target]) => isTypeOnly(target)).map(([name]) => name)
  const values = names.map(([name]) => name).filter((name) => !typeNames.includes(name))
  const body = printed(root, exported, homes)
  const head = [
    `// ${entry}: ${names.length} names, ${values.length} values and ${typeNames.length} types. Written by \`npm run api\`.`,
    ...listed('values', values),
    ...listed('types', typeNames),
  ]
  return { entry, file, values, types: typeNames, text: `${[...head, '', ...body].join('\n').trimEnd()}\n` }
}

/** @param {string} title @param {readonly string[]} names */
function listed(title, names) {
  return names.length === 0 ? [] : ['//', `// ${title}:`, ...wrapped('//   ', names)]
}

/** With commas, in lines that fit. @param {string} indent @param {readonly string[]} names */
function wrapped(indent, names) {
  /** @type {string[]} */
  const lines = []
  let line = ''
  for (const name of names) {
    if (line !== '' && indent.length + line.length + name.length + 2 > WIDTH) {
      lines.push(indent + line)
      line = ''
    }
    line += `${line === '' ? '' : ' '}${name},`
  }
  return [...lines, indent + line]
}

/** @param {string} root @param {Map<string, Target>} names @param {Map<string, Target>} homes */
function printed(root, names, homes) {
  const publicNames = new Map([...names].map(([name, target]) => [idOf(target), name]))
  /** @param {Declaration} declaration */
  const publicName = (declaration) => publicNames.get(idOf(declaration))
  const { declarations, imports } = closureOf(
    [...names.values()].map((target) => ({ ...target, isType: isTypeOnly(target) })),
    (target) => (publicNames.has(idOf(target)) ? undefined : homes.get(idOf(target))),
  )
  const sorted = declarations.toSorted((a, b) => compare(a.name, b.name) || compare(a.file, b.file))
  const shown = sorted.filter((one) => publicName(one) !== undefined)
  const others = sorted.filter((one) => publicName(one) === undefined)
  const augmented = [...new Set(sorted.map(({ file }) => file))]
    .toSorted(compare)
    .flatMap((file) => augmentationsOf(file))
  return [
    ...[...imports].toSorted(([a], [b]) => compare(a, b)).flatMap(([from, used]) => importsOf(from, used)),
    ...(imports.size === 0 ? [] : ['']),
    ...shown.flatMap((one) => [...declared(one, publicName(one) === one.name ? 'export ' : ''), '']),
    ...[...names]
      .filter(([name, target]) => target.name !== name)
      .flatMap(([name, target]) => [`export { ${target.name} as ${name} }`, '']),
    ...(others.length === 0 ? [] : ['// Not exported, and referred to above.', '']),
    ...others.flatMap((one) => [`// ${moduleName(root, one.file)}`, ...declared(one, ''), '']),
    ...augmented.flatMap((text) => [text, '']),
  ]
}

/** @param {Declaration} declaration @param {string} prefix */
function declared({ file, nodes, isType }, prefix) {
  return [...new Set(nodes)].map((node) => prefix + textOf(file, node, isType))
}

/** `core/decide` @param {string} root @param {string} file */
const moduleName = (root, file) =>
  path
    .relative(root, file)
    .replaceAll(path.sep, '/')
    .replace(/\.d\.ts$/, '')

/** @param {string} from @param {Set<string>} names */
function importsOf(from, names) {
  const sorted = [...names].toSorted(compare)
  const named = sorted.filter((name) => !name.startsWith('*'))
  return [
    ...sorted.filter((name) => name.startsWith('*')).map((name) => `import type ${name} from '${from}'`),
    ...(named.length === 0 ? [] : ['import type {', ...wrapped('  ', named), `} from '${from}'`]),
  ]
}

/** By code unit, whatever the language of the machine. @param {string} a @param {string} b */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0
}

function writeAll() {
  const all = snapshots()
  for (const directory of new Set(all.map(({ file }) => path.dirname(file)))) {
    rmSync(path.join(packages, directory), { recursive: true, force: true })
    mkdirSync(path.join(packages, directory))
  }
  for (const { entry, file, values, types, text } of all) {
    writeFileSync(path.join(packages, file), text)
    console.log(`${entry}: ${values.length} values, ${types.length} types`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeAll()
