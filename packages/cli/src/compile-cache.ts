/**
 * Has Node keep what it has compiled, where it can (22.8 and newer): the next start then takes a quarter less. In a
 * directory of the user's own, since what lies there is run; not in that for temporary files, where others can be first.
 * Without a home, and with `NODE_DISABLE_COMPILE_CACHE`, nothing is kept. Imports nothing.
 */
type Enable = (directory: string) => unknown

/** Asked of the process, since an import would cost those who only ask for the version. */
function nodesOwn(): Enable | undefined {
  const { getBuiltinModule } = process as { readonly getBuiltinModule?: (name: string) => unknown }
  const { enableCompileCache } = (getBuiltinModule?.('node:module') ?? {}) as { readonly enableCompileCache?: Enable }
  return enableCompileCache
}

export function cacheCompiled(env: Readonly<Record<string, string | undefined>>, enable = nodesOwn()): void {
  const { HOME: home, XDG_CACHE_HOME: caches, NODE_COMPILE_CACHE: chosen } = env
  const directory = caches?.startsWith('/') === true ? caches : home && `${home}/.cache`
  // Who has chosen a place has it enabled already.
  if (enable === undefined || !directory || chosen) return
  enable(`${directory}/reprise/compiled`)
}
