/**
 * Two projects: pure tests share one module graph per worker; tests that start processes or build things are isolated.
 * Packages resolve to their sources through the export condition `source`, so that only the second kind needs a build.
 */
import { availableParallelism } from 'node:os'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

const conditions = ['reprise-source', ...defaultServerConditions]
const pure = ['packages/*/src/**/*.test.ts', 'test/property/**/*.test.ts', 'test/behaviour/**/*.test.ts']
// Programs that tests start print commands to type next, which differ where npm has started the program.
for (const name of ['npm_command', 'npm_lifecycle_event']) delete process.env[name]
const reportFile = process.env['TEST_REPORT']
const END = './test/report-end.ts'

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    pool: 'threads',
    // Three where there are two processors: tests that start processes mostly wait for them, and two left a processor idle.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    globalSetup: ['test/postgres/global-setup.ts'],
    reporters: reportFile === undefined ? ['default', END] : ['default', END, ['json', { outputFile: reportFile }]],
    projects: [
      // Long, since a busy machine is slow and a test that hangs is found all the same.
      { extends: true, test: { name: 'unit', include: pure, isolate: false, testTimeout: 30_000 } },
      { extends: true, test: { name: 'system', include: ['test/**/*.test.ts'], exclude: pure, testTimeout: 90_000 } },
    ],
    coverage: {
      include: ['packages/reprise/src/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: [['text', { skipFull: true }]],
      thresholds: { 'packages/reprise/src/core/**': { branches: 100 } },
    },
  },
})
