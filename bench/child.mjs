/** One process of one row: `child.mjs <row> <options as JSON>`; prints the figures as JSON on its last line. */
const [row, options] = process.argv.slice(2)
const { default: definition } = await import(new URL(`rows/${row}.mjs`, import.meta.url).href)
const figures = await definition.measure(JSON.parse(options))
process.stdout.write(`\n${JSON.stringify(figures)}\n`, () => process.exit(0))
