/** What the parser accepts and we do not, because two readers could take it for two things. Imports the `yaml` package. */
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml'
import { MAX_VALUES } from './limits.js'
import { shortened } from './shortened.js'

interface YamlPitfall {
  /** Absent: the text as a whole. */
  readonly node?: Node
  readonly message: string
  readonly suggestion?: string
  /** Of a key that is given twice: where it was given first. */
  readonly first?: Node
}

/** Keys that stand twice, aliases of nothing, merge keys, other versions of YAML, more values than we take. */
export function findYamlPitfalls(document: Document): YamlPitfall[] {
  const pitfalls: YamlPitfall[] = []
  const { version, explicit } = document.directives?.yaml ?? {}
  // There `no` is false, 010 is 8, and 1:30 is 90.
  if (explicit && version !== '1.2') {
    pitfalls.push({ message: `YAML ${version} is not read`, suggestion: 'leave out the %YAML line: it is 1.2' })
  }
  let values = 0
  // The text nests no deeper than the limit, so this may recurse; the parser's own walk keeps a path, and takes longer.
  const look = (node: unknown, within: readonly unknown[]): void => {
    if (node === null || values > MAX_VALUES) return
    values++
    if (isMap(node)) {
      pitfalls.push(...pitfallsOfKeys(node))
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
      if (meant === undefined) pitfalls.push(danglingPitfall(node))
      else if (within.includes(meant)) pitfalls.push({ node, message: `&${node.source} holds itself` })
    }
  }
  look(document.contents, [])
  if (values > MAX_VALUES) pitfalls.push({ message: `has more than ${MAX_VALUES} values` })
  return pitfalls
}

function danglingPitfall(node: Alias): YamlPitfall {
  const message = `nothing before this is called &${node.source}`
  return { node, message, suggestion: 'text that begins with `*` needs quotes' }
}

function pitfallsOfKeys(map: YAMLMap): YamlPitfall[] {
  const pitfalls: YamlPitfall[] = []
  const keys = new Map<unknown, Node>()
  for (const { key } of map.items) {
    if (!isScalar(key)) continue
    const first = keys.get(key.value)
    if (first !== undefined)
      pitfalls.push({ node: key, message: `\`${shortened(String(key.value))}\` is given twice`, first })
    if (isMergeKey(key)) pitfalls.push(mergeKeyPitfall(key))
    if (first === undefined) keys.set(key.value, key)
  }
  return pitfalls
}

function isMergeKey(key: Scalar): boolean {
  return key.value === '<<' && key.type === 'PLAIN'
}

function mergeKeyPitfall(node: Node): YamlPitfall {
  const suggestion = 'write the fields out; what many steps share goes under `retry_defaults:` or `env:`'
  return { node, message: 'merge keys are not part of YAML 1.2, and not read', suggestion }
}
