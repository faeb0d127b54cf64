/** How `npm run api` prints an entry, on a package of a few lines. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { snapshotsOf } from '../../scripts/api.mjs'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-api-'))
afterAll(() => rmSync(directory, { recursive: true }))

const FILES = {
  'index.d.ts': `
export { open, type Store } from './store.js'
export type * from './words.js'
export { limit as maxItems } from './limits.js'
`,
  'store.d.ts': `
import type { Readable } from 'node:stream'
import type { Row } from './rows.js'
import { Base } from './base.js'
/** Says a lot. */
export declare class Store extends Base {
    private readonly rows;
    #private;
    /** Of a row. */
    read(id: string): Promise<Row | import("./words.js").Word>;
    pipe(): Readable;
    protected reset(): void;
    private constructor();
    static make(secret: Secret): Store;
}
interface Secret {
    readonly value: string;
}
export declare function open(name: string): Store;
export declare function open(name: string, limit: number): Store;
declare module './words.js' {
    interface Words {
        store: Store;
    }
}
`,
  'rows.d.ts':
    'export interface Row {\n    readonly id: string;\n    /** Newest first. */\n    readonly next: Row | null;\n}\n',
  'base.d.ts': 'export declare class Base {\n    protected open: boolean;\n    close(): void;\n}\n',
  'limits.d.ts': 'export declare const limit = 7;\nexport declare const unused = 8;\n',
  'words.d.ts':
    "export declare const WORDS: readonly ['a', 'b'];\nexport type Word = (typeof WORDS)[number];\nexport interface Words {\n}\n",
  'internal.d.ts':
    "export type { Row } from './rows.js'\nexport declare function rowOf(store: import('./store.js').Store): import('./rows.js').Row;\n",
}

beforeAll(() => {
  mkdirSync(path.join(directory, 'dist/types'), { recursive: true })
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(directory, 'dist/types', name), text)
  const exports = { '.': { types: './dist/types/index.d.ts' }, './internal': { types: './dist/types/internal.d.ts' } }
  writeFileSync(path.join(directory, 'package.json'), JSON.stringify({ name: 'shop', exports }))
})

test('an entry has its names, their declarations, and what those refer to, without what no program can use', () => {
  const [snapshot] = snapshotsOf(directory)
  expect(snapshot).toMatchObject({
    entry: 'shop',
    values: ['maxItems', 'open'],
    types: ['Store', 'WORDS', 'Word', 'Words'],
  })
  expect(snapshot?.text).toBe(`// shop: 6 names, 2 values and 4 types. Written by \`npm run api\`.
//
// values:
//   maxItems, open,
//
// types:
//   Store, WORDS, Word, Words,

import type {
  Readable,
} from 'node:stream'

export declare class Store extends Base {
  read(id: string): Promise<Row | Word>;
  pipe(): Readable;
}

export declare const WORDS: readonly ['a', 'b'];

export type Word = (typeof WORDS)[number];

export interface Words {
}

declare const limit = 7;

export declare function open(name: string): Store;
export declare function open(name: string, limit: number): Store;

export { limit as maxItems }

// Not exported, and referred to above.

// base
declare class Base {
  close(): void;
}

// rows
interface Row {
  readonly id: string;
  readonly next: Row | null;
}

declare module './words.js' {
  interface Words {
    store: Store;
  }
}
`)
})

test('an internal entry imports what a stable one exports, and a stable entry imports nothing of an internal one', () => {
  const [stable, internal] = snapshotsOf(directory)
  expect(internal?.text).toContain("import type {\n  Store,\n} from 'shop'")
  expect(stable?.text).not.toContain('shop/internal')
})
