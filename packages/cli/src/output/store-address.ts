/**
 * The address of a store as it may be shown: in messages, and in commands to type next. What is secret in it is left out;
 * a command that is typed so finds the password in PGPASSWORD or ~/.pgpass. Imports nothing.
 */

/** Parameters that hold no secret, and without which the next command would mean something else. */
const SHOWN = new Set([
  ...['schema', 'connections', 'host', 'port', 'user', 'dbname', 'application_name', 'connect_timeout', 'options'],
  ...['sslmode', 'ssl', 'sslcert', 'sslrootcert', 'uselibpqcompat'],
])

export function storeWithoutPassword(store: string): string {
  if (!store.includes('://')) return store
  if (!URL.canParse(store)) return store.replace(/:\/\/.*$/s, '://…')
  const url = new URL(store)
  const { protocol, username, host, pathname } = url
  const user = username === '' ? '' : `${username}@`
  const kept = [...url.searchParams].filter(([name]) => SHOWN.has(name))
  const query = kept.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`).join('&')
  return `${protocol}//${user}${host}${pathname}${query === '' ? '' : `?${query}`}`
}
