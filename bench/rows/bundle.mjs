/** Size of bundles, minified and compressed. */
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { figure } from '../goals.mjs'
import { modules } from '../peers.mjs'
import { entry, reprise } from '../reprise.mjs'

const directory = fileURLToPath(new URL('..', import.meta.url))

/** kB, minified and compressed, of a program that is nothing but `code`. */
async function size(/** @type {string} */ code) {
  const require = createRequire(new URL('../../package.json', import.meta.url))
  const { rolldown } = await import(pathToFileURL(require.resolve('rolldown')).href)
  const entryId = `${directory}entry-of-bundle.js`
  const program = {
    name: 'program',
    resolveId: (/** @type {string} */ id) => (id === entryId ? id : null),
    load: (/** @type {string} */ id) => (id === entryId ? code : null),
  }
  const bundle = await rolldown({
    input: entryId,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    logLevel: 'silent',
    plugins: [program],
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  let bytes = 0
  for (const chunk of output) bytes += gzipSync(chunk.code ?? '', { level: 9 }).length
  return bytes / 1000
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Bundle, minified and compressed',
  unit: 'kB',
  columns: { retry: 'retry only, kB', whole: 'whole in-process set, kB' },
  note: 'Bundled and minified by rolldown, gzip level 9, 1 kB = 1 000 B. Empty: the peer has no such part.',
  floor:
    'a loop with a wait is 0.2 kB; what `retry` of Reprise is larger for is what a policy may say: breakers, budgets with places in line, hedges, patterns in linear time, observers, timelines, every mistake told with its place.',
  processes: 1,
  goals: [
    { what: 'retry of reprise/slim', value: figure('reprise/slim', 'retry'), goal: 5, stretch: 4, unit: 'kB' },
    { what: 'retry of reprise', value: figure('reprise', 'retry'), goal: 22, stretch: 18, unit: 'kB' },
    { what: 'whole in-process set', value: figure('reprise', 'whole'), goal: 30, stretch: 25, unit: 'kB' },
  ],
  measure: async () => {
    /** @type {import('../harness.mjs').Figures} */
    const figures = {}
    for (const [name, part] of Object.entries(modules)) {
      /** @type {Record<string, number>} */
      const sizes = (figures[name] = {})
      for (const [column, code] of Object.entries(part)) sizes[column] = await size(code)
    }
    if (reprise) {
      const path = JSON.stringify(fileURLToPath(entry))
      figures.reprise = {
        retry: await size(`export { retry } from ${path}`),
        whole: await size(`export * from ${path}`),
      }
      const slim = JSON.stringify(fileURLToPath(new URL('slim.js', entry)))
      figures['reprise/slim'] = { retry: await size(`export { retry } from ${slim}`) }
    }
    return figures
  },
}
