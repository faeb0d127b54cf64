/** Blocks the event loop for BLOCK_MS, each time SIGUSR2 comes; loaded before the command line, which does not know of it. */
process.on('SIGUSR2', () => {
  const untilMs = performance.now() + Number(process.env['BLOCK_MS'])
  process.stderr.write('blocked\n')
  while (performance.now() < untilMs);
  process.stderr.write('unblocked\n')
})
