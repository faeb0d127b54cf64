/**
 * What editors show over the public names of the packages: every declaration that a stable entry exports or refers to,
 * with its members, its documentation comment, and whether that comment has a default and examples. Read from the emitted
 * declarations, so a build comes first. `test/package/hover.test.ts` says what has to be there.
 *
 * A member without a comment shows the comment of the member that it implements, as in editors.
 */
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { stableEntries } from './api.mjs'
import { closureOf, commentBefore, declaredAs, isHidden, namesUsedBy } from './declarations.mjs'

/**
 * @typedef {import('./declarations.mjs').Node} Node
 * @typedef {import('./declarations.mjs').Declaration} Declaration
 * @typedef {{ text: string, default: string | undefined, examples: string[] }} Doc
 * @typedef {'function' | 'class' | 'type' | 'constant' | 'method' | 'property' | 'constructor'} Kind
 * @typedef {object} Shown a name that an editor can show
 * @property {string} file the source, relative to the project
 * @property {string} type the declaration, such as `Durable`
 * @property {string} member such as `task`, or `amplification.worst`; empty for the declaration itself
 * @property {Kind} kind
 * @property {boolean} isExported by an entry, rather than referred to
 * @property {boolean} isOption a property that may be left out, of a type that an argument has
 * @property {boolean} isDiscriminant its type is one literal, so its value is what it says
 * @property {boolean} isError of an error class
 * @property {boolean} isUnion a type alias rather than an interface or class
 * @property {number} parameters how many type arguments the declaration needs
 * @property {Doc | undefined} doc
 */

const root = fileURLToPath(new URL('../', import.meta.url))
const FUNCTION_TYPES = new Set(['TSFunctionType', 'TSConstructorType'])

/** @param {Pick<Declaration, 'file' | 'name'>} target */
const idOf = ({ file, name }) => `${file}#${name}`

/** @returns {Shown[]} */
export function shownNames() {
  const entries = stableEntries()
  const exported = new Set(entries.flatMap((entry) => [...entry.exported.values()].map(idOf)))
  const { declarations } = closureOf(
    entries.flatMap((entry) => [...entry.exported.values()]),
    () => undefined,
  )
  const byId = new Map(declarations.map((one) => [idOf(one), one]))
  const argumentTypes = argumentTypesOf(declarations, byId)
  return declarations.flatMap((declaration) => {
    const isOptionType = argumentTypes.has(idOf(declaration))
    const isPartial = argumentTypes.get(idOf(declaration)) === 'partial'
    return shownOf(declaration, byId).map(({ isOptional, isArgument, ...shown }) => ({
      ...shown,
      file: path
        .relative(root, declaration.file)
        .replace('dist/types', 'src')
        .replace(/\.d\.ts$/, '.ts'),
      type: declaration.name,
      isExported: exported.has(idOf(declaration)),
      isOption: shown.member !== '' && (isArgument || isOptionType) && (isOptional || isPartial),
      isError: declaration.name.endsWith('Error'),
      isUnion: declaration.nodes[0]?.type === 'TSTypeAliasDeclaration',
      parameters: parametersOf(declaration.nodes[0]),
    }))
  })
}

/** Type parameters without a default. @param {Node | undefined} node */
function parametersOf(node) {
  const { params } = /** @type {{ params: Node[] }} */ (node?.typeParameters ?? { params: [] })
  return params.filter((one) => !one.default).length
}

/**
 * @typedef {Pick<Shown, 'member' | 'kind' | 'isDiscriminant' | 'doc'> & { isOptional: boolean, isArgument: boolean }} Part
 * @param {Declaration} declaration
 * @param {Map<string, Declaration>} byId
 * @returns {Part[]}
 */
function shownOf(declaration, byId) {
  const { file, nodes, isType } = declaration
  return nodes.flatMap((node) => {
    const kind = kindOf(node)
    /** @type {Part} */
    const itself = {
      member: '',
      kind,
      isOptional: false,
      isArgument: false,
      isDiscriminant: false,
      // Of each overload: editors show the comment of the one that is called.
      doc: docOf(file, node),
    }
    const members = [...membersIn(node, isType, '', false)].map(({ member, name, isArgument }) => ({
      member: name,
      kind: kindOf(member),
      isOptional: member.optional === true,
      isArgument,
      isDiscriminant: isLiteral(member),
      doc: withInherited(docOf(file, member), () => inheritedDoc(declaration, name, byId)),
    }))
    return [itself, ...members]
  })
}

/** @param {Node} node @returns {Kind} */
function kindOf({ type, kind }) {
  if (type === 'TSDeclareFunction' || type === 'FunctionDeclaration') return 'function'
  if (type === 'ClassDeclaration') return 'class'
  if (type === 'VariableDeclaration') return 'constant'
  if (type === 'TSInterfaceDeclaration' || type === 'TSTypeAliasDeclaration') return 'type'
  if (kind === 'constructor') return 'constructor'
  const isMethod = type === 'TSMethodSignature' || type === 'MethodDefinition' || type === 'TSAbstractMethodDefinition'
  return isMethod && kind !== 'get' && kind !== 'set' ? 'method' : 'property'
}

const MEMBERS = /^(TS(Property|Method)Signature|PropertyDefinition|MethodDefinition|TSAbstract\w+Definition)$/

/**
 * Members with their path, also those of types that are written in place.
 * @param {unknown} value
 * @param {boolean} isType
 * @param {string} prefix
 * @param {boolean} isArgument
 * @returns {Generator<{ member: Node, name: string, isArgument: boolean }>}
 */
function* membersIn(value, isType, prefix, isArgument) {
  if (typeof value !== 'object' || value === null) return
  const node = /** @type {Node} */ (value)
  if (typeof node.type === 'string') {
    if (isHidden(node, isType) || node.accessibility === 'protected') return
    if (MEMBERS.test(node.type)) {
      const key = /** @type {{ name?: string, value?: unknown }} */ (node.key)
      // `[BRAND]`: no program can name it.
      if (node.computed === true) return
      const name = `${prefix}${key.name ?? String(key.value)}`
      yield { member: node, name, isArgument }
      // Of what a method returns, its own text tells.
      yield* membersIn([node.typeAnnotation, node.value], isType, `${name}.`, isArgument)
      yield* membersIn(node.params, isType, `${name}.`, true)
      return
    }
  }
  for (const [field, child] of Object.entries(node)) {
    yield* membersIn(child, isType, prefix, isArgument || field === 'params')
  }
}

/** @param {Node} member */
function isLiteral({ typeAnnotation, value }) {
  const annotation = /** @type {{ typeAnnotation?: Node } | null | undefined} */ (typeAnnotation)
  return annotation?.typeAnnotation?.type === 'TSLiteralType' || /** @type {Node | null} */ (value)?.type === 'Literal'
}

/** @param {string} file @param {Node} node @returns {Doc | undefined} */
function docOf(file, node) {
  const comment = commentBefore(file, node)
  return comment === undefined ? undefined : parseDoc(comment)
}

/**
 * Text before the first tag, the default, and the code of each example. A tag begins after white space, outside of
 * backticks, as in the compiler.
 * @param {string} comment
 * @returns {Doc}
 */
export function parseDoc(comment) {
  const lines = comment
    .slice('/**'.length, -'*/'.length)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
  const content = lines.join('\n')
  const tags = [...content.matchAll(/`[^`]*`|(?<=^|\s)@([a-z]+)/g)].filter(([, name]) => name !== undefined)
  const parts = tags.map((tag, at) => ({
    name: tag[1],
    text: content.slice(tag.index + tag[0].length, tags[at + 1]?.index).trim(),
  }))
  return {
    text: content.slice(0, tags[0]?.index).trim(),
    default: parts.find(({ name }) => name === 'default')?.text,
    examples: parts.filter(({ name }) => name === 'example').map(({ text }) => text),
  }
}

/** Text and tags are taken over separately, as editors do. @param {Doc | undefined} own @param {() => Doc | undefined} base */
function withInherited(own, base) {
  if (own === undefined) return base()
  const hasTags = own.default !== undefined || own.examples.length > 0
  if (own.text !== '' && hasTags) return own
  const inherited = base()
  if (inherited === undefined) return own
  return { ...(hasTags ? own : inherited), text: own.text === '' ? inherited.text : own.text }
}

/**
 * Of the types that a declaration extends or implements.
 * @param {Declaration} declaration
 * @param {string} member
 * @param {Map<string, Declaration>} byId
 * @returns {Doc | undefined}
 */
function inheritedDoc({ file, nodes }, member, byId) {
  for (const base of nodes.flatMap((node) => basesOf(file, node))) {
    const declaration = byId.get(idOf(base))
    if (declaration === undefined) continue
    const doc = shownOf(declaration, byId).find((part) => part.member === member)?.doc
    const inherited = doc ?? inheritedDoc(declaration, member, byId)
    if (inherited !== undefined) return inherited
  }
  return undefined
}

/** @param {string} file @param {Node} node */
function basesOf(file, node) {
  const clauses = /** @type {Node[]} */ ([node, ...asNodes(node.implements), ...asNodes(node.extends)])
  return clauses
    .flatMap((clause) => namesUsedBy({ ...clause, computed: false }))
    .flatMap((name) => declaredAs(file, name) ?? [])
}

/** @param {unknown} value @returns {Node[]} */
const asNodes = (value) => (Array.isArray(value) ? value : [])

/**
 * Types of what functions and methods take, and of their parts: `partial` where all properties may be left out.
 * @param {readonly Declaration[]} declarations
 * @param {Map<string, Declaration>} byId
 */
function argumentTypesOf(declarations, byId) {
  /** @type {Map<string, 'whole' | 'partial'>} */
  const found = new Map()
  /** @param {string} file @param {unknown} value @param {'whole' | 'partial'} how */
  const visit = (file, value, how) => {
    for (const { name, isPartial } of typesIn(value, how === 'partial')) {
      const target = declaredAs(file, name)
      const declaration = target && byId.get(idOf(target))
      if (declaration === undefined || found.has(idOf(declaration))) continue
      if (declaration.nodes.some(({ type }) => type === 'ClassDeclaration')) continue
      found.set(idOf(declaration), isPartial ? 'partial' : 'whole')
      for (const node of declaration.nodes)
        visit(declaration.file, [node.extends, node.body, node.typeAnnotation], 'whole')
    }
  }
  for (const { file, nodes, name, isType } of declarations) {
    if (name.endsWith('Error')) continue
    for (const node of nodes) for (const params of parametersIn(node, isType)) visit(file, params, 'whole')
  }
  return found
}

/** Of functions and methods, not of function types: those are what programs are given. @param {Node} node @param {boolean} isType */
function* parametersIn(node, isType) {
  if (kindOf(node) === 'function') yield node.params
  for (const { member } of membersIn(node, isType, '', false)) {
    if (kindOf(member) === 'method' || kindOf(member) === 'constructor') {
      yield member.params ?? /** @type {Node | null} */ (member.value)?.params
    }
  }
}

/**
 * Names of types, without those in function types and the parameters of methods.
 * @param {unknown} value
 * @param {boolean} isPartial
 * @returns {Generator<{ name: string, isPartial: boolean }>}
 */
function* typesIn(value, isPartial) {
  if (typeof value !== 'object' || value === null) return
  const node = /** @type {Node} */ (value)
  if (FUNCTION_TYPES.has(node.type) || node.type === 'TSMethodSignature') return
  const names = typeof node.type === 'string' ? namesUsedBy(node) : []
  for (const name of names) yield { name, isPartial }
  for (const child of Object.values(node)) yield* typesIn(child, isPartial || names.includes('Partial'))
}
