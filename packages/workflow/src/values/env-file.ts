/**
 * Texts with variables of the environment: `NAME=value` lines, as systemd, Docker and dotenv have them. Nothing in them is
 * executed and no reference is filled in. Imports nothing.
 */
/** How a line is written. */
export const ENV_FILE_FORM = 'a line is `NAME=value`, `NAME="a text"` or a comment after `#`'
const ASSIGNMENT = /^(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/s
const DOUBLE = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/s
const SINGLE = /^'([^']*)'\s*(?:#.*)?$/s
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

interface EnvFile {
  readonly variables: Readonly<Record<string, string>>
  readonly problems: readonly { readonly line: number; readonly message: string }[]
}

/** Lines are counted from 1. No value stands in a message: it may be a secret. */
export function parseEnvFile(text: string): EnvFile {
  const variables: Record<string, string> = Object.create(null) as Record<string, string>
  const problems: { line: number; message: string }[] = []
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const [, name, written = ''] = ASSIGNMENT.exec(line) ?? []
    const value = name === undefined ? undefined : valueOf(written)
    if (name === undefined) problems.push({ line: index + 1, message: 'this is no variable with a value' })
    else if (value === undefined) problems.push({ line: index + 1, message: `the quotes of ${name} do not fit` })
    else variables[name] = value
  }
  return { variables, problems }
}

/** Undefined if a quote is not closed, or something stands behind it. `written`: with the spaces that it begins with. */
function valueOf(written: string): string | undefined {
  const text = written.trimStart()
  if (text.startsWith('"'))
    return DOUBLE.exec(text)?.[1]?.replaceAll(/\\(.)/gs, (_, char: string) => ESCAPED[char] ?? char)
  if (text.startsWith("'")) return SINGLE.exec(text)?.[1]
  return written.replace(/\s+#.*$/, '').trim()
}
