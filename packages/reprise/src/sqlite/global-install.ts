/** Whether this library is installed globally: its drivers have to be then, too. Imports Node. */
import { existsSync } from 'node:fs'
import path from 'node:path'

/**
 * `file`: a file of this library. A project has a `package.json` beside its `node_modules`; the folder of global packages
 * has none.
 */
export function isGlobalInstall(file: string): boolean {
  const parts = path.resolve(file).split(path.sep)
  const outermost = parts.indexOf('node_modules')
  return outermost !== -1 && !existsSync([...parts.slice(0, outermost), 'package.json'].join(path.sep))
}
