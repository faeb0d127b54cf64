/** What the parser accepts and we do not, because two readers could take it for two things. Imports the `yaml` package. */
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml'
import { MAX_VALUES } from './limits.js'
import { shortened } from './shortened.js'

interface Slip {
  /** Absent: the text as a whole. */
  readonly node?: Node
  readonly message: string
  readonly suggestion?: string
  /** Of a key that is given twice: where it was given first. */
  readonly first?: Node
}

/** Keys that stand twice, aliases of nothing, merge keys, other versions of YAML, more values than we take. */
export function findSlips(document: Document): Slip[] {
  const slips: Slip[] = []
  const { version, explicit } = document.directives?.yaml ?? {}
  // There `no` is false, 010 is 8, and 1:30 is 90.
  if (explicit && version !== '1.2') {
    slips.push({ message: `YAML ${version} is not read`, suggestion: 'leave out the %YAML line: it is 1.2' })
  }
  let values = 0
  // The text nests no deeper than the limit, so this may recurse; the parser's own walk keeps a path, and takes longer.
  const look = (node: unknown, within: readonly unknown[]): void => {
    if (node === null || values > MAX_VALUES) return
    values++
    if (isMap(node)) {
      slips.push(...slipsOfKeys(node))
      const inner = [...within, node]
      for (const { key, value } of node.items) {
        look(key, inner)
        look(value, inner)
      }
    } else if (isSeq(node)) {
      const inner = [...within, node]
      for (const item of node.items) look(item, inner)
    } else if (isAlias(node)) {
      const meant = node.resolve(document)
      if (meant === undefined) slips.push(danglingSlip(node))
      else if (within.includes(meant)) slips.push({ node, message: `&${node.source} holds itself` })
    }
  }
  look(document.contents, [])
  if (values > MAX_VALUES) slips.push({ message: `has more than ${MAX_VALUES} values` })
  return slips
}

function danglingSlip(node: Alias): Slip {
  const message = `nothing before this is called &${node.source}`
  return { node, message, suggestion: 'text that begins with `*` needs quotes' }
}

function slipsOfKeys(map: YAMLMap): Slip[] {
  const slips: Slip[] = []
  const keys = new Map<unknown, Node>()
  for (const { key } of map.items) {
    if (!isScalar(key)) continue
    const first = keys.get(key.value)
    if (first !== undefined)
      slips.push({ node: key, message: `\`${shortened(String(key.value))}\` is given twice`, first })
    if (isMergeKey(key)) slips.push(mergeKeySlip(key))
    if (first === undefined) keys.set(key.value, key)
  }
  return slips
}

function isMergeKey(key: Scalar): boolean {
  return key.value === '<<' && key.type === 'PLAIN'
}

function mergeKeySlip(node: Node): Slip {
  const suggestion = 'write the fields out; what many steps share goes under `retry_defaults:` or `env:`'
  return { node, message: 'merge keys are not part of YAML 1.2, and not read', suggestion }
}
