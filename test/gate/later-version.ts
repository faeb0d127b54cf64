/** The sources as a later version may have them: one more migration of each store, of a kind that a running process bears. */
import type { Plugin } from 'rolldown'

const STEPS = {
  sqlite: ['CREATE TABLE notes (id TEXT PRIMARY KEY) STRICT', "ALTER TABLE tasks ADD COLUMN note TEXT DEFAULT 'new'"],
  postgres: [
    'CREATE TABLE $schema.notes (id text PRIMARY KEY)',
    "ALTER TABLE $schema.tasks ADD COLUMN note text DEFAULT 'new'; ALTER TABLE $schema.gates ADD COLUMN note text",
  ],
} as const

const HEAD = 'export const MIGRATIONS: readonly string[] = ['
const END = 'export const SCHEMA_VERSION = MIGRATIONS.length'

export const LATER_VERSION: Plugin = {
  name: 'later-version',
  transform(code, id) {
    const [, store] = /[\\/](sqlite|postgres)[\\/]migrations\.ts$/.exec(id) ?? []
    if (store === undefined) return null
    if (!code.includes(HEAD) || !code.includes(END)) throw new Error(`${id} is not as it was`)
    const later = JSON.stringify(STEPS[store as keyof typeof STEPS])
    const steps = `export const MIGRATIONS: readonly string[] = [...RELEASED_STEPS, ...${later}]`
    return code.replace(HEAD, 'const RELEASED_STEPS: readonly string[] = [').replace(END, `${steps}\n${END}`)
  },
}
