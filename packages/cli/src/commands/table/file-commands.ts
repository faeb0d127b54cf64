/** Commands about files that describe workflows. Imports types only. */
import type { CommandEntry } from '../../command.js'

export const FILE_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'write a working example to start from',
    values: [['[dir]', 'where to; the working directory unless said']],
    options: [
      {
        flags: '--template <name>',
        text: 'shell: a workflow of commands; library: a program that calls the library (default: shell)',
        choices: ['shell', 'library'],
      },
    ],
    examples: [
      ['init', 'a workflow in the working directory'],
      ['init demo', 'the same in a directory of its own'],
      ['init demo --template library', 'a program that uses the library'],
    ],
    more: 'Nothing that is there is overwritten.',
  },
  {
    name: 'validate',
    summary: 'check files: every problem with its line and column, and what to write instead',
    values: [['<files...>', 'YAML or JSON files with a workflow or a policy; - is stdin']],
    examples: [
      ['validate workflow.yaml', 'every problem at once'],
      ['validate flows/*.yaml --json', 'as data for programs'],
    ],
    more: '--json prints { problems: [{ file, line, column, path, message, suggestion }] }.',
  },
  {
    name: 'schema',
    summary: 'print the JSON Schema of workflow files, for editors',
    examples: [
      ['schema > reprise.schema.json', ''],
      ['schema', 'what `# yaml-language-server: $schema=reprise.schema.json` refers to'],
    ],
  },
]
