/** Commands about the installation: completion in shells, and what is wrong. Imports types only. */
import type { CommandEntry } from '../../command.js'

export const SETUP_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'doctor',
    summary: 'find what is wrong with the installation, the store and its records, and what cures it',
    options: [
      {
        flags: '--salvage <file>',
        text: 'copy every readable row of a damaged SQLite store into this new file',
      },
    ],
    examples: [
      ['doctor', 'every fault, with its place and the command that cures it'],
      ['doctor --store postgres://app@db.example/orders', ''],
      ['doctor --json | jq \'.checks[] | select(.state == "fault")\'', ''],
      ['doctor --salvage salvaged.db', 'save what can be read of a damaged store'],
    ],
    more: `Nothing is changed. Exit code 0: all is well; 4: records are inconsistent, or of
a newer version; 74: the store cannot be read or written.

--salvage opens the store read-only and never overwrites a file. It lists what
was lost, and exits with 3 if anything was. End what uses the store before.

--json prints { ok, checks }, or { address, file, rows, lost } with --salvage.`,
    load: () => import('../doctor.js'),
  },
  {
    name: 'completion',
    summary: 'print the script that completes reprise commands in your shell',
    values: [['<shell>', 'the shell', ['bash', 'zsh', 'fish']]],
    examples: [
      ['completion bash', ''],
      ['completion zsh', ''],
      ['completion fish', ''],
    ],
    more: `Install it once:

  bash  add to ~/.bashrc:
          source <(reprise completion bash)
  zsh   add to ~/.zshrc, after the line with compinit:
          source <(reprise completion zsh)
  fish  run:
          reprise completion fish > ~/.config/fish/completions/reprise.fish

Tab then completes commands, flags, the words a flag takes, files, and the ids of
runs, steps, breakers and budgets in the store. Run it again after an update.`,
    load: () => import('../completion.js'),
  },
]
