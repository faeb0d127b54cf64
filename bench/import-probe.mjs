/** Imports what it is told and prints how long that took. */
const cpuBefore = process.cpuUsage()
const before = performance.now()
await import(process.argv[2])
const ms = performance.now() - before
const { user, system } = process.cpuUsage(cpuBefore)
process.stdout.write(JSON.stringify({ ms, cpu: (user + system) / 1000 }), () => process.exit(0))
