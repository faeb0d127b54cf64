/**
 * Leaves out one warning of Node: that its SQLite is experimental, which it prints before the output of every command
 * that opens a ledger (Node 22, and 24 before 24.15). Every other warning is printed as usual. Imports nothing.
 */
type EmitWarning = (warning: string | Error, ...rest: unknown[]) => void

export function hideSqliteWarning(host: { emitWarning: EmitWarning } = process as { emitWarning: EmitWarning }): void {
  const { emitWarning } = host
  host.emitWarning = (warning, ...rest) => {
    const isSqlite = rest[0] === 'ExperimentalWarning' && /^SQLite is an experimental feature\b/.test(String(warning))
    if (!isSqlite) Reflect.apply(emitWarning, host, [warning, ...rest])
  }
}
