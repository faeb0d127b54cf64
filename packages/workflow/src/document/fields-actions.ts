/** What a step can do: one key for each kind. Imports the shapes. */
import { HEADER_NAME, ORIGIN } from './names.js'
import { either, type Field, field, type FieldsShape, list, named, plain, text, whole, words } from './shape.js'

const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

const STATUS = whole(100, 599)

const EXPECT: FieldsShape = {
  kind: 'fields',
  title: 'expect',
  example: '{status: [200, 404]}',
  fields: [
    field('status', either(STATUS, list(STATUS, 1)), 'The statuses that are a success: one, or a list.', {
      default: '200 to 299',
      examples: [204, [200, 404]],
    }),
  ],
}

const HTTP: FieldsShape = {
  kind: 'fields',
  title: 'http',
  example: '{url: https://example.com/items}',
  fields: [
    field('url', text('template', { isLine: true }), 'The address.', {
      isRequired: true,
      examples: ['https://example.com/items', 'https://example.com/items/${item_id}'],
    }),
    field('method', words(...HTTP_METHODS), 'The method.', {
      default: '`GET`; with a body `POST`',
      examples: ['POST'],
    }),
    field(
      'headers',
      named(HEADER_NAME, plain('template', { isLine: true }), '{Accept: application/json}'),
      'Headers by name.',
      { default: 'none', examples: [{ Authorization: 'Bearer ${env.API_TOKEN}' }] },
    ),
    field('body', { kind: 'data', reading: 'template' }, 'Text, or data that is sent as JSON.', {
      default: 'none',
      examples: [{ order: '${order_id}' }],
    }),
    field('expect', EXPECT, 'What counts as a success.', { default: 'any status from 200 to 299' }),
    field(
      'redirect_origins',
      list(text(undefined, { isLine: true, rule: ORIGIN }), 1),
      'Other origins that get the headers and the body of the step when the answer is a redirect to them.',
      { default: "none: only the address's own origin gets them", examples: [['https://files.example.com']] },
    ),
  ],
}

const SCRIPT: FieldsShape = {
  kind: 'fields',
  title: 'script',
  example: '{module: ./import.mjs}',
  fields: [
    field('module', text(undefined, { isLine: true }), "The file of the module, from the document's directory.", {
      isRequired: true,
      examples: ['./import.mjs'],
    }),
    field('export', text(undefined, { isLine: true }), 'The name of the function that it exports.', {
      default: '`default`',
      examples: ['importItems'],
    }),
    field('with', { kind: 'data', reading: 'template' }, 'What the function is given.', {
      default: 'nothing',
      examples: [{ region: '${env.REGION}' }],
    }),
  ],
}

const CLAUDE: FieldsShape = {
  kind: 'fields',
  title: 'claude',
  example: '{prompt: Summarize report.md}',
  fields: [
    field('prompt', text('template'), 'What it is asked.', { isRequired: true, examples: ['Summarize report.md'] }),
    field('args', list(plain('template')), 'Further arguments of the program.', {
      default: 'none',
      examples: [['--model', 'sonnet']],
    }),
  ],
}

const WRITE_FILE: FieldsShape = {
  kind: 'fields',
  title: 'write_file',
  example: '{path: out.json, content: hello}',
  fields: [
    field('path', text('template', { isLine: true }), "The file, from the step's working directory.", {
      isRequired: true,
      examples: ['out/${run.id}.json'],
    }),
    field('content', { kind: 'data', reading: 'template' }, 'Text, or data that is written as JSON.', {
      isRequired: true,
      examples: [{ items: '${items}' }],
    }),
    field(
      'mode',
      text(undefined, { rule: { pattern: '^0?[0-7]{3}$', said: "a mode in quotes, such as '0644'" } }),
      'Permissions, as three octal digits in quotes.',
      { default: 'as the system has it', examples: ['0644'] },
    ),
  ],
}

export const ACTION_FIELDS: readonly Field[] = [
  field('shell', text('shell'), 'Shell text, run by `bash -euo pipefail` where there is bash.', {
    examples: ['curl -fsS https://example.com/items.json'],
  }),
  field('run', list(plain('template'), 1), 'A program and its arguments, without a shell.', {
    examples: [['psql', '-f', 'load.sql']],
  }),
  field('http', HTTP, 'A request.', { examples: [{ url: 'https://example.com/items' }] }),
  field('script', either(text(undefined, { isLine: true }), SCRIPT), 'A function of a module: its file, or fields.', {
    examples: ['./import.mjs', { module: './import.mjs', export: 'importItems' }],
  }),
  field('claude', either(text('template'), CLAUDE), 'A prompt for the program `claude`, or fields.', {
    examples: ['/review', { prompt: 'Summarize report.md', args: ['--model', 'sonnet'] }],
  }),
  field('write_file', WRITE_FILE, 'A file to be written.', { examples: [{ path: 'out.txt', content: 'hello' }] }),
]
