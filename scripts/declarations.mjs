/**
 * Emitted `.d.ts` files as a graph of declarations: what a file exports, where each name is declared, and which other
 * declarations its text refers to. `api.mjs` prints an entry of a package from it.
 *
 * Plain syntax, no type checker: the compiler's own API is not part of TypeScript 7, and the emitted files already name
 * every type. Names are followed through imports and re-exports of relative files; other imports are left as imports.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseSync } from 'rolldown/utils'

/**
 * @typedef {{ type: string, start: number, end: number, [field: string]: unknown }} Node
 * @typedef {{ file: string, name: string, isType: boolean }} Target a name in a file, or in a package if not relative
 * @typedef {{ name: string, file: string, nodes: Node[], isType: boolean }} Declaration with one node for each overload or
 *   merged part; `isType`: of a class, programs only see instances
 * @typedef {{ text: string, comments: { start: number, end: number }[], declared: Map<string, Node[]>,
 *   imported: Map<string, Target>, exported: Map<string, Target>, stars: { file: string, isType: boolean }[],
 *   augmentations: Node[] }} Module
 */

/** @type {Map<string, Module>} */
const modules = new Map()

/** @param {string} file @returns {Module} */
function moduleAt(file) {
  let known = modules.get(file)
  if (known === undefined) modules.set(file, (known = readModule(file)))
  return known
}

/** @param {string} file @returns {Module} */
function readModule(file) {
  const text = readFileSync(file, 'utf8')
  const { program, comments, errors } = parseSync(file, text, { lang: 'dts' })
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  /** @type {Module} */
  const module = {
    text,
    comments,
    declared: new Map(),
    imported: new Map(),
    exported: new Map(),
    stars: [],
    augmentations: [],
  }
  for (const statement of /** @type {Node[]} */ (/** @type {unknown} */ (program.body))) {
    readStatement(file, module, statement)
  }
  return module
}

/** @param {string} file @param {Module} module @param {Node} statement */
function readStatement(file, module, statement) {
  const source = /** @type {{ value: string } | null | undefined} */ (statement.source)
  const from = source ? resolved(file, source.value) : file
  const specifiers = /** @type {Node[]} */ (statement.specifiers ?? [])
  if (statement.type === 'ImportDeclaration') {
    for (const specifier of specifiers) {
      const local = nameOf(specifier.local)
      const name = specifier.imported === undefined ? `* as ${local}` : nameOf(specifier.imported)
      module.imported.set(local, { file: from, name, isType: false })
    }
  } else if (statement.type === 'ExportAllDeclaration') {
    module.stars.push({ file: from, isType: statement.exportKind === 'type' })
  } else if (statement.type === 'TSModuleDeclaration') {
    module.augmentations.push(statement)
  } else if (statement.type === 'ExportNamedDeclaration' && !statement.declaration) {
    for (const specifier of specifiers) {
      const isType = statement.exportKind === 'type' || specifier.exportKind === 'type'
      module.exported.set(nameOf(specifier.exported), { file: from, name: nameOf(specifier.local), isType })
    }
  } else {
    const isExported = statement.type === 'ExportNamedDeclaration'
    const declaration = /** @type {Node} */ (isExported ? statement.declaration : statement)
    for (const name of namesIn(declaration)) {
      module.declared.set(name, [...(module.declared.get(name) ?? []), declaration])
      if (isExported) module.exported.set(name, { file, name, isType: false })
    }
  }
}

/** @param {unknown} node */
const nameOf = (node) => /** @type {{ name?: string }} */ (node).name ?? ''

/** @param {Node} declaration @returns {string[]} */
function namesIn({ id, declarations }) {
  if (Array.isArray(declarations)) return declarations.map((one) => nameOf(one.id))
  return id ? [nameOf(id)] : []
}

/** Relative specifiers as the file that declares them; others as they are. @param {string} file @param {string} to */
function resolved(file, to) {
  return to.startsWith('.') ? path.join(path.dirname(file), to.replace(/\.js$/, '.d.ts')) : to
}

/** @param {string} file */
const isOwn = (file) => path.isAbsolute(file)

/** All names of an entry, by name, each with where it is declared. @param {string} file @returns {Map<string, Target>} */
export function exportsOf(file) {
  /** @type {Map<string, Target>} */
  const found = new Map()
  const { stars, exported } = moduleAt(file)
  for (const star of stars) {
    for (const [name, target] of exportsOf(star.file)) {
      found.set(name, { ...target, isType: target.isType || star.isType })
    }
  }
  for (const [name, target] of exported) found.set(name, declarationOf(target))
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Follows imports and re-exports to the declaring file. @param {Target} target @returns {Target} */
function declarationOf(target) {
  if (!isOwn(target.file)) return target
  const { declared, imported, exported, stars } = moduleAt(target.file)
  if (declared.has(target.name)) return target
  const next = imported.get(target.name) ?? exported.get(target.name)
  if (next !== undefined) return declarationOf({ ...next, isType: next.isType || target.isType })
  const star = stars.find(({ file }) => isOwn(file) && exportsOf(file).has(target.name))
  if (star === undefined) throw new Error(`${target.file} has no ${target.name}`)
  return declarationOf({ ...target, file: star.file })
}

/** Whether a program can only use it as a type. @param {Target} target */
export function isTypeOnly(target) {
  if (target.isType) return true
  const nodes = moduleAt(target.file).declared.get(target.name) ?? []
  return nodes.every(({ type }) => type === 'TSInterfaceDeclaration' || type === 'TSTypeAliasDeclaration')
}

/**
 * The declarations that these names need: their own, and those that they refer to, and so on.
 * @param {Iterable<Target>} targets
 * @param {(target: Target) => Target | undefined} elsewhere where else one that is referred to is exported, if anywhere
 */
export function closureOf(targets, elsewhere) {
  /** @type {Map<string, Declaration>} */
  const own = new Map()
  /** @type {Map<string, Set<string>>} by package */
  const imports = new Map()
  const open = [...targets]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { file, name, isType } = next
    if (!isOwn(file)) {
      imports.set(file, (imports.get(file) ?? new Set()).add(name))
      continue
    }
    const known = own.get(`${file}#${name}`)
    if (known !== undefined && (isType || !known.isType)) continue
    const nodes = moduleAt(file).declared.get(name) ?? []
    own.set(`${file}#${name}`, { name, file, nodes, isType })
    const used = nodes.flatMap((node) => [...referencesIn(file, node, isType)])
    open.push(...used.map((target) => elsewhere(target) ?? target))
  }
  return { declarations: [...own.values()], imports }
}

/**
 * What the text of a declaration refers to, in its own file or in those it imports.
 * @param {string} file
 * @param {Node} root
 * @param {boolean} isType
 */
function* referencesIn(file, root, isType) {
  const { declared, imported } = moduleAt(file)
  for (const node of shownNodesIn(root, isType)) {
    if (node.type === 'TSImportType') {
      const { value } = /** @type {{ value: string }} */ (node.source)
      yield declarationOf({ file: resolved(file, value), name: leftmost(node.qualifier), isType: true })
      continue
    }
    for (const name of namesUsedBy(node)) {
      const target = imported.get(name) ?? (declared.has(name) ? { file, name, isType: false } : undefined)
      if (target !== undefined) yield { ...declarationOf(target), isType: isType || !NAMES_VALUE.has(node.type) }
    }
  }
}

/** Fields of nodes that hold a name which stands for a declaration; keys of members and parameters stand for none. */
const NAME_FIELDS = ['typeName', 'exprName', 'superClass', 'expression']

/** Nodes that name something as a value: the base class of one, and `typeof`. */
const NAMES_VALUE = new Set(['ClassDeclaration', 'TSTypeQuery'])

/** @param {Node} node @returns {string[]} */
export function namesUsedBy(node) {
  const names = NAME_FIELDS.map((field) => node[field])
  // `[Symbol.iterator]` and `[BRAND]`.
  if (node.computed === true) names.push(node.key)
  return names.map(leftmost).filter((name) => name !== '')
}

/** `a` of `a.b.c`. @param {unknown} value @returns {string} */
function leftmost(value) {
  const node = /** @type {Node | null | undefined} */ (value)
  if (node?.type === 'TSQualifiedName') return leftmost(node.left)
  if (node?.type === 'MemberExpression') return leftmost(node.object)
  return node?.type === 'Identifier' ? nameOf(node) : ''
}

/** @param {unknown} value @param {boolean} isType @returns {Generator<Node>} */
function* shownNodesIn(value, isType) {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && 'start' in value) {
    const node = /** @type {Node} */ (value)
    if (isHidden(node, isType)) return
    yield node
  }
  for (const child of Object.values(value)) yield* shownNodesIn(child, isType)
}

/**
 * Members of a class that no program can use: private ones, and where only instances are seen, what makes them and what
 * subclasses see. A private constructor of a class that is exported is shown: it says that only the library makes such
 * objects.
 * @param {Node} node
 * @param {boolean} isType
 */
export function isHidden(node, isType) {
  const { accessibility, kind, key } = node
  if (/** @type {Node | undefined} */ (key)?.type === 'PrivateIdentifier') return true
  if (isType) return kind === 'constructor' || node.static === true || (accessibility ?? 'public') !== 'public'
  return accessibility === 'private' && kind !== 'constructor'
}

/**
 * The documentation comment that ends where a node starts, as it is written; undefined if there is none.
 * @param {string} file
 * @param {Node} node
 */
export function commentBefore(file, node) {
  const { text, comments } = moduleAt(file)
  const last = comments.findLast(({ end }) => end <= node.start)
  if (last === undefined || !text.startsWith('/**', last.start)) return undefined
  const isNext = /^\s*(export\s+)?(declare\s+)?$/.test(text.slice(last.end, node.start))
  return isNext ? text.slice(last.start, last.end) : undefined
}

/** Where the name that a file uses is declared; undefined for what is not its own. @param {string} file @param {string} name */
export function declaredAs(file, name) {
  const { declared, imported } = moduleAt(file)
  const target = imported.get(name) ?? (declared.has(name) ? { file, name, isType: true } : undefined)
  return target !== undefined && isOwn(target.file) ? declarationOf(target) : undefined
}

/** What other modules are given by this file: `declare module '…' { … }`. @param {string} file */
export function augmentationsOf(file) {
  return moduleAt(file).augmentations.map((node) => textOf(file, node, true))
}

/**
 * Without comments and hidden members, with two spaces for each level.
 * @param {string} file
 * @param {Node} node
 * @param {boolean} isType
 */
export function textOf(file, node, isType) {
  const { text, comments } = moduleAt(file)
  const hidden = [...everyNodeIn(node)].filter((one) => isHidden(one, isType))
  const paths = [...everyNodeIn(node)].filter(({ type, source }) => {
    return type === 'TSImportType' && /** @type {{ value: string }} */ (source).value.startsWith('.')
  })
  const cuts = [
    ...[...comments, ...hidden].filter(({ start, end }) => start >= node.start && end <= node.end),
    ...paths.map((type) => ({ start: type.start, end: /** @type {Node} */ (type.qualifier).start })),
  ].toSorted((a, b) => a.start - b.start)
  let [shown, from] = ['', node.start]
  for (const { start, end } of cuts) {
    shown += text.slice(from, Math.max(from, start))
    from = Math.max(from, end)
  }
  return (shown + text.slice(from, node.end))
    .replaceAll(/^\s*\n/gm, '')
    .replaceAll(/\n\s*(?=\| )/g, ' ')
    .replaceAll(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2))
    .replaceAll(/ +$/gm, '')
    .replace(
      /^(?:declare )?/,
      node.type.startsWith('TSInterface') || node.type.startsWith('TSTypeAlias') ? '' : 'declare ',
    )
}

/** @param {unknown} value @returns {Generator<Node>} */
function* everyNodeIn(value) {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && 'start' in value) yield/** @type {Node} */ (value)
  for (const child of Object.values(value)) yield* everyNodeIn(child)
}
