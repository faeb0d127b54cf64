/**
 * Writes the JavaScript that is published; `tsc -b` writes the declarations beside it.
 *
 * The library becomes one `kernel.js` (core and runtime) and a small file per entry: many small modules cost import
 * time. Readable on purpose: users debug into it, and their bundlers minify. `npm run build` runs this after `tsc -b`.
 *
 * What a package names in `dependencies` stays an import; what it names in `devDependencies` becomes part of it, with its
 * licence. The command line takes in everything, the library as well: somebody waits for each start, `yaml` alone is 70
 * files (35 ms to import as they are, 12 ms as part of a file), and of the library a command needs only some.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const LICENCES = 'third-party-licences.txt'

/** @param {string} name */
const manifest = async (name) => JSON.parse(await readFile(`packages/${name}/package.json`, 'utf8'))

/** Every dependency and built-in stays an import. @param {Record<string, Record<string, string>>} pkg */
function externals(pkg) {
  const names = Object.keys({ ...pkg.dependencies, ...pkg.optionalDependencies, ...pkg.peerDependencies })
  /** @param {string} id */
  return (id) => id.startsWith('node:') || names.some((name) => id === name || id.startsWith(`${name}/`))
}

/**
 * No module of the library has side effects when loaded, so a constant that nobody reads may go with the call that makes
 * it. Bundlers only believe that of a call which says so.
 */
const markPureConstants = {
  name: 'mark-pure-constants',
  /** @param {string} code */
  renderChunk: (code) => code.replace(/^((?:const|let|var) [\w$]+ = )(?=(?:new )?[\w.$]+\()/gm, '$1/* @__PURE__ */ '),
}

/**
 * @param {string} name of the package's directory
 * @param {{ input: Record<string, string>, platform: 'neutral' | 'node', chunks?: { name: string, test: RegExp }[], alias?: Record<string, string>, isPure?: boolean }} options
 */
async function bundle(name, { input, platform, chunks = [], alias = {}, isPure = false }) {
  const root = path.resolve('packages', name)
  for (const file of await readdir(`${root}/dist`)) {
    if (file.endsWith('.js') || file === LICENCES) await rm(`${root}/dist/${file}`)
  }
  const { output } = await build({
    cwd: root,
    input,
    platform,
    external: externals(await manifest(name)),
    // A module that is imported late here, and by what is imported late there, is in one file with reason.
    checks: { ineffectiveDynamicImport: false },
    preserveEntrySignatures: 'allow-extension',
    // Sources of our own packages can be taken apart by who needs what; their bundles cannot.
    resolve: {
      extensionAlias: { '.js': ['.ts', '.js'] },
      conditionNames: ['reprise-source', 'import', 'node', 'default'],
      alias,
    },
    plugins: isPure ? [markPureConstants] : [],
    output: {
      dir: 'dist',
      format: 'esm',
      chunkFileNames: '[name].js',
      minifyInternalExports: false,
      // What they say is in the declarations; here they would only be read at every import.
      comments: { annotation: true, legal: true, jsdoc: false },
      // A group has what it names, and not what that imports: else the first would take in all the others.
      codeSplitting: chunks.length === 0 ? true : { groups: chunks, includeDependenciesRecursively: false },
    },
  })
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  await writeLicences(`${root}/dist/${LICENCES}`, modules)
}

/** Of the packages that were taken in, their own words. @param {string} file @param {readonly string[]} modules */
async function writeLicences(file, modules) {
  const roots = new Set(modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []))
  const texts = await Promise.all(
    [...roots].toSorted().map(async (root) => {
      const { name, version, license } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'))
      const found = (await readdir(root)).find((entry) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(entry))
      if (found === undefined) throw new Error(`${name} has no file with its licence`)
      return `${name} ${version} (${license})\n\n${(await readFile(`${root}/${found}`, 'utf8')).trim()}\n`
    }),
  )
  if (texts.length > 0) await writeFile(file, texts.join(`\n${'-'.repeat(80)}\n\n`))
}

/**
 * The files of the command line, each with what it holds: how paths begin. The first that fits takes a module. Else every
 * few lines that two commands share would be a file of their own; a file costs half a millisecond, 40 kB of it one.
 */
const CLI_FILES = {
  // All that `--version` needs.
  frame: [
    ...['exit-codes', 'failures', 'output-loss', 'version', 'write-failure', 'compile-cache', 'live-command'],
    'node-warnings',
  ].map((name) => `packages/cli/src/${name}.`),
  // What every start knows of commands, and some of them read by.
  table: [
    ...['flag-table.', 'output-mode.', 'commands/table/'].map((name) => `packages/cli/src/${name}`),
    ...['document/policy-fields.', 'document/shape.', 'document/spelling.', 'operate/store-address.'].map(
      (name) => `packages/workflow/src/${name}`,
    ),
  ],
  // What every command prints with, and what policies are made of.
  kernel: [
    'packages/cli/src/output-error.',
    ...[
      ...['display', 'fitted-table', 'github-commands', 'json', 'next-commands', 'no-store', 'path-from-here'],
      ...['problems', 'relative-time', 'style', 'table', 'width', 'wrap', 'write-file', 'xml'],
    ].map((name) => `packages/cli/src/output/${name}.`),
    ...'document/problem. operate/operation-error. plan/attempts. plan/fallback. plan/plan. state/state-error. words/'
      .split(' ')
      .map((name) => `packages/workflow/src/${name}`),
    ...['core/', 'runtime/', 'observe/', 'durable/policy-record.', 'durable/json.', 'durable/failure-record.'].map(
      (name) => `packages/reprise/src/${name}`,
    ),
  ],
  // What runs a command.
  process: [
    ...['process/', 'run/exec-command.'].map((name) => `packages/workflow/src/${name}`),
    ...['signals.', 'defined-', 'exec-reporter.', 'attempt-stdout.', 'exec-stdin.', 'command-exit-code.'].map(
      (name) => `packages/cli/src/runs/${name}`,
    ),
    'packages/cli/src/output/backpressure.',
  ],
  // What looks after a store.
  store: [
    'packages/reprise/src/internal/sqlite.',
    ...['maintenance.', 'new-file.', 'integrity.', 'readable-rows.', 'cut-off-file.'].map(
      (name) => `packages/reprise/src/sqlite/${name}`,
    ),
    ...['ledger-check.', 'task-check.'].map((name) => `packages/reprise/src/durable/${name}`),
    ...['store-care.', 'store-status.', 'left-behind.', 'doctor'].map(
      (name) => `packages/workflow/src/operate/${name}`,
    ),
    'packages/cli/src/runs/doctor',
  ],
  // What looks into a ledger.
  ledger: [
    ...[
      'ledger/',
      'durable/',
      'open/',
      'sqlite/',
      'internal/shared-ledger.',
      'internal/redrive.',
      'internal/serve-',
    ].map((name) => `packages/reprise/src/${name}`),
    ...['view/', 'state/', 'run/run-record.', 'run/lost-content.', 'operate/store.', 'operate/tasks/'].map(
      (name) => `packages/workflow/src/${name}`,
    ),
    ...['state-', 'flat-', 'harmless-', 'agent-names.'].map((name) => `packages/cli/src/output/${name}`),
  ],
  // Only where a server is named.
  postgres: ['packages/reprise/src/postgres/', 'packages/reprise/src/internal/postgres.'],
  // What reads a file.
  document: [
    ...['document/', 'plan/', 'values/', 'operate/validate-source.'].map((name) => `packages/workflow/src/${name}`),
    'packages/cli/src/input/open-source.',
    'node_modules/yaml/',
  ],
  // What finds runs and reads their plans.
  operate: [
    ...['operate/find-', 'operate/run-reader.', 'run/recorded-plan.', 'run/places.'].map(
      (name) => `packages/workflow/src/${name}`,
    ),
    ...['run-argument.', 'follow.', 'until-signal.'].map((name) => `packages/cli/src/runs/${name}`),
    'packages/cli/src/output/runs/map-facts.',
  ],
  // What serves: only `gate` and `--metrics-port` load it.
  serve: ['packages/dashboard/src/', 'node_modules/hono/', 'node_modules/@hono/'],
  // What jobs are made of.
  jobs: ['packages/jobs/src/', 'packages/cli/src/output/jobs/', 'packages/cli/src/runs/jobs/'],
  // What conducts a run.
  letters: [
    'packages/workflow/src/operate/letters/',
    ...['output/letters/', 'input/letter-'].map((name) => `packages/cli/src/${name}`),
  ],
  runs: [
    ...['run/', 'steps/', 'masking/', 'operate/', 'items/', 'workplaces/workplaces.'].map(
      (name) => `packages/workflow/src/${name}`,
    ),
    'packages/cli/src/runs/',
    'packages/cli/src/input/count-',
    ...'live/ line run- map- attempt-printers. ordered- log- step-names junit'
      .split(' ')
      .map((name) => `packages/cli/src/output/${name}`),
  ],
}

/** @param {readonly string[]} starts */
function startingWith(starts) {
  return new RegExp(`/(${starts.join('|')})`.replaceAll('.', '\\.').replaceAll('/', '[\\\\/]'))
}

await bundle('reprise', {
  input: {
    index: 'src/index.ts',
    slim: 'src/slim/index.ts',
    observe: 'src/observe/index.ts',
    simulate: 'src/simulate/index.ts',
    durable: 'src/open/index.ts',
    sqlite: 'src/sqlite/index.ts',
    postgres: 'src/postgres/index.ts',
    testing: 'src/testing/index.ts',
    core: 'src/core/index.ts',
    internal: 'src/internal/index.ts',
    'internal-sqlite': 'src/internal/sqlite.ts',
    'internal-postgres': 'src/internal/postgres.ts',
    'internal-simulate': 'src/internal/simulate.ts',
  },
  platform: 'neutral',
  // Without the entry of core: a group that holds an entry takes its name.
  chunks: [{ name: 'kernel', test: /src[\\/](core[\\/](?!index\.)|runtime[\\/])/ }],
  isPure: true,
})
await bundle('workflow', {
  input: { index: 'src/index.ts', internal: 'src/internal.ts' },
  platform: 'node',
  // What only looks at policies and runs is a file of its own: a program that runs workflows does not load it.
  chunks: [
    { name: 'workflow', test: /src[\\/](?!words|explain|simulate|operate)\w+[\\/]/ },
    { name: 'operate', test: /src[\\/]\w+[\\/]/ },
  ],
})
await bundle('jobs', { input: { index: 'src/index.ts', internal: 'src/internal.ts' }, platform: 'node' })
await bundle('dashboard', { input: { index: 'src/index.ts', internal: 'src/internal.ts' }, platform: 'node' })
await bundle('cli', {
  input: { main: 'src/main.ts' },
  platform: 'node',
  // Its build for browsers: ES modules, of which what nobody uses is left out, and which need no wrapper at run time.
  alias: { yaml: fileURLToPath(new URL('browser/index.js', import.meta.resolve('yaml/package.json'))) },
  chunks: Object.entries(CLI_FILES).map(([name, starts]) => ({ name, test: startingWith(starts) })),
})
