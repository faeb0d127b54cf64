/** Commands about the installation: completion in shells, and what is wrong. Imports types only. */
import type { CommandEntry } from '../../command.js'

export const SETUP_COMMANDS: readonly CommandEntry[] = [
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
