/**
 * The address of a store: what it names, and how it may be shown in messages and commands. What is secret in it is left
 * out; a command that is typed so finds the password in PGPASSWORD or ~/.pgpass. Light, since every start of the command
 * line loads it. Imports nothing.
 */

/** Where runs are kept when no store is named. */
export const DEFAULT_STORE = 'sqlite:.reprise/ledger.db'

/** The file of a store that is one. */
export function fileOf(store: string): string | undefined {
  return /^sqlite:(.+)$/s.exec(store)?.[1]
}

export function isOnServer(store: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(store)
}

/** For a store in which nothing was ever kept. */
export function noStoreMessage(store: string): string {
  const what = isOnServer(store)
    ? `${storeWithoutPassword(store)} has no ledger.`
    : `${fileOf(store) ?? store} does not exist.`
  return `There are no runs here: ${what}`
}

/** Parameters that hold no secret, and without which the next command would mean something else. */
const SHOWN = new Set([
  ...['schema', 'connections', 'host', 'port', 'user', 'dbname', 'application_name', 'connect_timeout', 'options'],
  ...['sslmode', 'ssl', 'sslcert', 'sslrootcert', 'uselibpqcompat'],
])

export function storeWithoutPassword(store: string): string {
  // A path may hold anything.
  if (!store.includes('://') || /^sqlite:(?!\/\/)/.test(store)) return store
  if (!URL.canParse(store)) return store.replace(/:\/\/.*$/s, '://…')
  const url = new URL(store)
  const { protocol, username, host, pathname } = url
  // A slash in a password that is not encoded: what seems to be the database is the rest of it.
  if (pathname.includes('@')) return `${protocol}//…`
  const user = username === '' ? '' : `${username}@`
  const kept = [...url.searchParams].filter(([name]) => SHOWN.has(name))
  const query = kept.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`).join('&')
  return `${protocol}//${user}${host}${pathname}${query === '' ? '' : `?${query}`}`
}

/**
 * What is no address, as a message may quote it: nobody knows what of it was meant as the password, so all from the first
 * colon to the last @ is left out, whether or not there is a scheme, and so are parameters.
 */
export function mistypedStore(store: string): string {
  const scheme = /^\s*[a-z][\w+.-]*:\/\//i.exec(store)?.[0] ?? ''
  const colon = store.indexOf(':', scheme.length)
  const end = store.lastIndexOf('@')
  const shown = colon !== -1 && colon < end ? `${store.slice(0, colon)}:…${store.slice(end)}` : store
  return shown.replace(/\?.*$/s, '?…').replace(/(\bpass\w*|\bpwd)\s*=.*$/is, '$1=…')
}
