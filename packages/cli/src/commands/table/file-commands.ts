/** Commands about files that describe workflows. Imports types only. */
import type { CommandEntry } from '../../command.js'

export const FILE_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'write a working example to start from',
    values: [['[dir]', 'the directory to write to (default: the working directory)']],
    options: [
      {
        flags: '--template <name>',
        text: 'shell: a workflow of commands; mapreduce: one over many items; job: workflows at several datacenters; library: a program that calls the library (default: shell)',
        choices: ['shell', 'mapreduce', 'job', 'library'],
      },
    ],
    examples: [
      ['init', 'a workflow in the working directory'],
      ['init demo', 'the same in a directory of its own'],
      ['init demo --template mapreduce', 'a workflow over many items'],
      ['init demo --template job', 'a job over three datacenters'],
      ['init demo --template library', 'a program that uses the library'],
    ],
    more: `No file is overwritten: if one exists, the command is refused with exit code 4
and writes nothing. --json prints { files, next }: the files, and what to type.`,
    load: () => import('../init.js'),
  },
  {
    name: 'validate',
    summary: 'check files: every problem with its line and column, and what to write instead',
    values: [['<files...>', 'YAML or JSON files with a workflow, a job or a policy; - is stdin']],
    examples: [
      ['validate workflow.yaml', 'a workflow, or a file with a policy'],
      ['validate flows/*.yaml', 'many at once; exit code 2 if any has a problem'],
      ["validate workflow.yaml --json | jq '.files[].problems[]'", ''],
    ],
    more: `--json prints { files: [{ file, ok, kind, steps, problems, notes }] }; a problem
is { file, line, column, path, message, suggestion }, lines and columns from 1.
Nothing of a file is executed. Editors: see \`reprise schema --help\`.`,
    load: () => import('../validate.js'),
  },
  {
    name: 'schema',
    summary: 'print the JSON Schema of files, for completion and checks in editors',
    values: [['[kind]', 'the kind of files (default: workflow)', ['workflow', 'policy', 'job']]],
    examples: [
      ['schema > workflow.schema.json', 'what a workflow may hold'],
      ['schema policy > policy.schema.json', 'the same for a file with a policy alone'],
      ['schema job > job.schema.json', 'the same for a file of `mode: job`'],
    ],
    more: `Editors with the YAML language server (VS Code with the YAML extension, Neovim,
Helix, JetBrains and others) complete, explain and check a file whose first line
says where its schema is, as a path from the file or an address:

  # yaml-language-server: $schema=workflow.schema.json

\`reprise validate\` also checks what no schema can express, such as whether a name
is declared.`,
    load: () => import('../schema.js'),
  },
]
