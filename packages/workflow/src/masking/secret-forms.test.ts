import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { Masker } from './masker.js'
import { formsOf } from './secret-forms.js'

const SECRETS = [
  'a b=cdef',
  "it's(a)*secret!",
  'pa$$word`x"y\\z',
  'begin#tag=~home',
  '~home sweet home',
  'tab\tline\nend of it',
  'sl/ash&<b>',
  'ü-mlaut é',
  `quotes"it's & more`,
]

function masked(secret: string, text: string): string {
  return new Masker({ S: secret }).maskText(text)
}

describe.each(SECRETS)('the secret %j is masked', (secret) => {
  test.each([
    ['in the path of an address', new URL(`http://host/${secret}/x`).href.replace(/[?#].*|\/x$/, '')],
    ['in a path that is set', Object.assign(new URL('http://host'), { pathname: secret }).href],
    ['in a query', Object.assign(new URL('http://host'), { search: secret }).href],
    ['encoded', `http://host/${encodeURIComponent(secret)}`],
    ['encoded with all that RFC 3986 reserves', rfc3986(secret)],
    ['encoded in lower case', rfc3986(secret).toLowerCase()],
    ['as bash quotes it', bash('printf %q "$S"', secret)],
    ['as bash quotes it in words', bash('printf %s "${S@Q}"', secret).replace(/^\$?'/, '')],
    ['in the text of XML', page(secret)],
    ['in a page', page(secret).replaceAll('"', '&quot;').replaceAll("'", '&#39;')],
    ['in a page of Python', page(secret).replaceAll('"', '&quot;').replaceAll("'", '&#x27;')],
    ['in an attribute of XML', page(secret).replaceAll('"', '&quot;').replaceAll("'", '&apos;')],
    ['as dash and Python quote it', `'${secret.replaceAll("'", `'"'"'`)}'`],
    ['as bash declares it', bash('declare -p S', secret)],
  ])('%s', (_, text) => {
    const shown = masked(secret, text)
    expect(shown).toContain('***')
    for (const part of secret.match(/[a-z]{4,}/g) ?? []) expect(shown).not.toContain(part)
  })
})

test('a secret of letters and digits has few forms', () => {
  expect(formsOf('Abcdefgh12345678').length).toBeLessThan(9)
})

function page(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function rfc3986(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function bash(script: string, secret: string): string {
  return execFileSync('bash', ['-c', script], { env: { ...process.env, S: secret, LC_ALL: 'C.UTF-8' } }).toString()
}
