/**
 * The forms in which a secret shows up in output: as it is, its lines, quoted for JSON or a shell, in an address or a
 * page, in base64. Imports Node's buffers only.
 */

/** What is shorter is in every text: masking it would destroy the output and hide nothing. */
export const SHORTEST_SECRET = 4
/** Lines of a secret that are masked by themselves: the braces of a key file are not. */
const SHORTEST_LINE = 8
/** Of base64: fewer characters are found by chance. */
const SHORTEST_FRAGMENT = 6

/** All of them, each once. None for a value that is too short. */
export function formsOf(secret: string): string[] {
  const forms = new Set<string>()
  for (const value of valuesOf(secret)) {
    for (const form of writtenForms(value)) forms.add(form)
    for (const fragment of base64Fragments(value)) forms.add(fragment)
  }
  return [...forms].filter((form) => form.length >= SHORTEST_SECRET)
}

/** Whole, without blanks around it, and line by line. */
function valuesOf(secret: string): string[] {
  const lines = secret.split(/\r\n|[\r\n]/).map((line) => line.trim())
  const isManyLines = lines.filter((line) => line !== '').length > 1
  return [secret, secret.trim(), ...(isManyLines ? lines.filter((line) => line.length >= SHORTEST_LINE) : [])].filter(
    (value) => value.trim().length >= SHORTEST_SECRET,
  )
}

function writtenForms(value: string): string[] {
  const quoted = JSON.stringify(value).slice(1, -1)
  return [
    value,
    value.replaceAll('\n', '\r\n'),
    quoted,
    quoted.replaceAll('/', '\\/'),
    // Such as Python and PHP write it.
    quoted.replaceAll(/[^\0-\u007f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    // As the name of a host.
    value.toLowerCase(),
    ...pageForms(value),
    ...shellForms(value),
    ...addressForms(value),
  ]
}

/** In a page or XML: programs agree on three characters, and not on the quotes. */
function pageForms(value: string): string[] {
  const text = value.replaceAll(/[&<>]/g, (char) => ENTITIES[char] ?? char)
  const quoted = text.replaceAll('"', '&quot;')
  return [text, quoted, ...['&#39;', '&#x27;', '&apos;'].map((quote) => quoted.replaceAll("'", quote))]
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
}

/** What `printf %q` of bash puts a backslash before; `#` and `~` only where a word or a path begins. */
const BACKSLASHED = /[ !"$&'()*,;<>?[\\\]^`{|}]|^[#~]|(?<=[=:])~/g

function shellForms(value: string): string[] {
  return [
    value.replaceAll("'", `'\\''`),
    // dash, and `shlex.quote` of Python.
    value.replaceAll("'", `'"'"'`),
    value.replaceAll(BACKSLASHED, String.raw`\$&`),
    // `declare -p`; fish, and what Python prints of a text.
    value.replaceAll(/["$`\\]/g, String.raw`\$&`),
    value.replaceAll(/['\\]/g, String.raw`\$&`),
    // `$'…'`
    value
      .replaceAll(/['\\]/g, String.raw`\$&`)
      .replaceAll('\n', String.raw`\n`)
      .replaceAll('\r', String.raw`\r`)
      .replaceAll('\t', String.raw`\t`)
      .replaceAll('\u001B', String.raw`\E`),
  ]
}

function addressForms(value: string): string[] {
  // Halves of characters have no bytes.
  const encoded = encodeURIComponent(Buffer.from(value).toString())
  const strict = encoded.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const forms = [encoded, strict].flatMap((form) => [
    form,
    form.replaceAll('%20', '+'),
    // As most leave it in a path.
    form.replaceAll('%2F', '/'),
  ])
  forms.push(
    // As a form sends it.
    new URLSearchParams([['', value]]).toString().slice(1),
    ...pathForms(value),
  )
  return forms.flatMap((form) => [form, form.replaceAll(/%../g, (code) => code.toLowerCase())])
}

/** As `URL` writes it in a path, which ends before `?` and `#`; and in a query. */
function pathForms(value: string): string[] {
  const whole = new URL('http://host')
  whole.pathname = `/${value}`
  const begun = URL.canParse(`http://host/${value}`) ? new URL(`http://host/${value}`).pathname : ''
  const query = new URL('http://host')
  query.search = value
  return [whole.pathname.slice(1), begun.slice(1), query.search.slice(1)]
}

/**
 * What of the base64 of any text around the value is the value's alone, for the three ways it can lie in groups of three
 * bytes: in `user:password`, the password starts anywhere.
 */
function base64Fragments(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const first = Math.ceil((shift * 8) / 6)
    const behind = Math.floor(((shift + bytes.length) * 8) / 6)
    const fragment = text.slice(first, behind)
    return fragment.length < SHORTEST_FRAGMENT ? [] : [fragment, fragment.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
