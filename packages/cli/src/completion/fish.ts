/**
 * The completion script of fish, 3.0 and newer. Imports the model.
 *
 * The script holds what can be typed, and asks `reprise` only for ids in the store.
 */
import { LIVE_COMMAND } from '../live-command.js'
import { type Completed, type CompletedCommand, type CompletedFlag, GLOBAL_FLAGS } from './model.js'

export function fishScript(commands: readonly CompletedCommand[]): string {
  const all = [...GLOBAL_FLAGS, ...commands.flatMap(({ flags }) => flags)]
  const valued = new Set(all.flatMap(({ names, value }) => (value === undefined ? [] : names)))
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quoted(path.join(' ')))
  return `# Completion of reprise for fish, made by \`reprise completion fish\`.

set -g __reprise_valued ${[...valued].join(' ')}
set -g __reprise_commands ${paths.join(' ')}

${ENGINE}complete -c reprise -e
complete -c reprise -f
${GLOBAL_FLAGS.map((flag) => flagLine(undefined, flag)).join('\n')}
${commands.flatMap(commandLines).join('\n')}
`
}

/** What does not depend on the table. */
const ENGINE = `# Prints the command that was typed, the store, and the arguments of the command, a line each.
function __reprise_typed
    set -l typed (commandline -opc)
    set -l path ''
    set -l store ''
    set -l arguments
    set -l flag ''
    set -l ended
    for word in $typed[2..-1]
        if test -n "$ended"
            set -a arguments $word
            continue
        end
        if test -n "$flag"; and not string match -q -- '-*' $word
            test $flag = --store; and set store $word
            set flag ''
            continue
        end
        set flag ''
        switch $word
            case --
                set ended yes
            case '--store=*'
                set store (string replace -- --store= '' $word)
            case '-*=*'
            case '-*'
                contains -- $word $__reprise_valued; and set flag $word
            case '*'
                if contains -- (string trim -- "$path $word") $__reprise_commands; and test (count $arguments) -eq 0
                    set path (string trim -- "$path $word")
                else
                    set -a arguments $word
                end
        end
    end
    printf '%s\\n' "$path" "$store" $arguments
end

# Whether that command was typed; with a number, and with exactly so many arguments; with a + behind it, or more.
function __reprise_is
    set -l typed (__reprise_typed)
    test "$typed[1]" = "$argv[1]"; or return 1
    set -l count (math (count $typed) - 2)
    switch "$argv[2]"
        case ''
            return 0
        case '*+'
            test $count -ge (string replace + '' $argv[2])
        case '*'
            test $count -eq $argv[2]
    end
end

# Prints ids in the store: the kind.
function __reprise_live
    set -l typed (__reprise_typed)
    set -l program (commandline -opc)[1]
    set -l asked $argv
    if test "$argv[1]" = steps
        test (count $typed) -ge 3; or return
        set -a asked $typed[3]
    end
    test -n "$typed[2]"; and set -a asked --store $typed[2]
    $program ${LIVE_COMMAND} $asked 2>/dev/null </dev/null
end

`

function commandLines({ path, subcommands, flags, values, isRest }: CompletedCommand): string[] {
  const at = path.join(' ')
  const typed = `__reprise_is ${quoted(at)}`
  return [
    ...subcommands.map(({ name, text }) => `${complete(`${typed} 0`)} -a ${name} -d ${quoted(text)}`),
    ...flags.map((flag) => flagLine(typed, flag)),
    ...values.flatMap((value, index) => {
      const isMany = isRest && index === values.length - 1
      if (value.type === 'command') return commandValueLines(typed)
      const words = wordsOf(value)
      return words === '' ? [] : `${complete(`${typed} ${index}${isMany ? '+' : ''}`)} ${words}`
    }),
  ]
}

function commandValueLines(typed: string): string[] {
  return [`${complete(`${typed} 0`)} -a '(__fish_complete_command)'`, `${complete(`${typed} 1+`)} -F`]
}

function flagLine(condition: string | undefined, { names, text, value }: CompletedFlag): string {
  const named = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ')
  const words = value === undefined ? '' : ` ${value.type === 'files' ? '-r -F' : `-x ${wordsOf(value)}`}`.trimEnd()
  return `${complete(condition)} ${named} -d ${quoted(text)}${words}`
}

function complete(condition: string | undefined): string {
  return condition === undefined ? 'complete -c reprise' : `complete -c reprise -n ${quoted(condition)}`
}

function wordsOf(value: Completed): string {
  switch (value.type) {
    case 'files':
      return '-F'
    case 'directories':
      return "-a '(__fish_complete_directories)'"
    case 'words':
      return `-a ${quoted(value.words.join(' '))}`
    case 'live':
      return `-a '(__reprise_live ${value.kind})'`
    case 'command':
    case 'nothing':
      return ''
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
}
