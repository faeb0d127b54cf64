/**
 * The completion script of bash, 3.2 and newer, with or without the package bash-completion. Imports the model.
 *
 * The script holds what can be typed as `case` tables, and asks `reprise` only for ids in the store.
 */
import { LIVE_COMMAND } from '../live-command.js'
import { type Completed, type CompletedCommand, type CompletedFlag, GLOBAL_FLAGS } from './model.js'

export function bashScript(commands: readonly CompletedCommand[]): string {
  const all = [...GLOBAL_FLAGS, ...commands.flatMap(({ flags }) => flags)]
  const valued = new Set(all.flatMap(({ names, value }) => (value === undefined ? [] : names)))
  return `# Completion of reprise for bash, made by \`reprise completion bash\`.

# What may follow a command: subs, flags, and in values what its arguments are.
_reprise_of() {
  subs='' flags='' values=() rest_kind=''
  case "$1" in
${commands.map(commandCase).join('\n')}
  esac
  flags="$flags ${GLOBAL_FLAGS.flatMap(({ names }) => names).join(' ')}"
}

# Prints what the value of a flag is: the command, the flag.
_reprise_value() {
  case "$1 $2" in
${flagCases(commands).join('\n')}
  esac
}

# Whether a value follows the flag.
_reprise_takes() {
  case "$1" in
  ${[...valued].join(' | ')}) return 0 ;;
  *) return 1 ;;
  esac
}

${ENGINE}`
}

/** What does not depend on the table. */
const ENGINE = `# Sets words to what was typed up to the cursor. Bash has split it at COMP_WORDBREAKS, such as = and :.
_reprise_words() {
  local rest=\${COMP_LINE:0:COMP_POINT} piece i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=\${COMP_WORDS[i]}
    if [[ $i -gt 0 && $rest != [[:space:]]* ]]; then
      words[\${#words[@]} - 1]+=$piece
    else
      words+=("$piece")
    fi
    rest=\${rest#"\${rest%%[![:space:]]*}"}
    rest=\${rest#"$piece"}
  done
}

# Prints ids in the store: the kind, the run.
_reprise_live() {
  "\${words[0]}" ${LIVE_COMMAND} "$@" \${store:+--store} \${store:+"$store"} 2>/dev/null </dev/null | cut -f 1
}

# Completes a value: what it is, and the word so far.
_reprise_complete() {
  local kind=$1 cur=$2 IFS=$'\\n'
  case "$kind" in
  files) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
  directories) COMPREPLY=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null ;;
  command) COMPREPLY=($(compgen -c -- "$cur")) ;;
  words:*) COMPREPLY=($(compgen -W "$(tr ' ' '\\n' <<<"\${kind#words:}")" -- "$cur")) ;;
  live:steps) [[ -n $run ]] && COMPREPLY=($(compgen -W "$(_reprise_live steps "$run")" -- "$cur")) ;;
  live:*) COMPREPLY=($(compgen -W "$(_reprise_live "\${kind#live:}")" -- "$cur")) ;;
  esac
}

_reprise() {
  local words path='' flag='' store='' run='' ended='' count=0 subs flags values rest_kind word cur i
  _reprise_words
  COMPREPLY=()
  _reprise_of ''
  for ((i = 1; i < \${#words[@]} - 1; i++)); do
    word=\${words[i]}
    if [[ -n $ended ]]; then count=$((count + 1)); continue; fi
    if [[ -n $flag && $word != -* ]]; then
      [[ $flag == --store ]] && store=$word
      flag=''
      continue
    fi
    flag=''
    case "$word" in
    --) ended=1 ;;
    --store=*) store=\${word#--store=} ;;
    -*=*) ;;
    -*) _reprise_takes "$word" && flag=$word ;;
    *)
      if [[ " $subs " == *" $word "* ]]; then
        path="\${path:+$path }$word"
        _reprise_of "$path"
      else
        count=$((count + 1))
        [[ $count -eq 1 ]] && run=$word
      fi
      ;;
    esac
  done
  cur=\${words[\${#words[@]} - 1]}
  if [[ -z $ended && $cur == --*=* ]]; then
    flag=\${cur%%=*} cur=\${cur#*=}
  elif [[ -z $ended && $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    return
  fi
  if [[ -n $flag ]]; then
    _reprise_complete "$(_reprise_value "$path" "$flag")" "$cur"
  elif [[ -n $subs ]]; then
    COMPREPLY=($(compgen -W "$subs" -- "$cur"))
  elif [[ $count -lt \${#values[@]} ]]; then
    _reprise_complete "\${values[count]}" "$cur"
  elif [[ -n $rest_kind ]]; then
    _reprise_complete "$rest_kind" "$cur"
  fi
}
complete -F _reprise reprise
`

function commandCase({ path, subcommands, flags, values, isRest }: CompletedCommand): string {
  const subs = subcommands.map(({ name }) => name).join(' ')
  const names = flags.flatMap((flag) => flag.names).join(' ')
  const kinds = values.map((value) => `'${kindOf(value)}'`).join(' ')
  const last = values.at(-1)
  // Behind the program itself come arguments of its own, which are often files.
  const rest = !isRest || last === undefined ? '' : last.type === 'command' ? 'files' : kindOf(last)
  return `  '${path.join(' ')}') subs='${subs}' flags='${names}' values=(${kinds}) rest_kind='${rest}' ;;`
}

function flagCases(commands: readonly CompletedCommand[]): string[] {
  const line = (pattern: string, { names, value }: CompletedFlag): string[] =>
    value === undefined || value.type === 'nothing'
      ? []
      : [`  ${names.map((name) => `${pattern}' ${name}'`).join(' | ')}) printf %s '${kindOf(value)}' ;;`]
  return [
    ...commands.flatMap(({ path, flags }) => flags.flatMap((flag) => line(`'${path.join(' ')}'`, flag))),
    ...GLOBAL_FLAGS.flatMap((flag) => line('*', flag)),
  ]
}

function kindOf(value: Completed): string {
  if (value.type === 'words') return `words:${value.words.join(' ')}`
  return value.type === 'live' ? `live:${value.kind}` : value.type === 'nothing' ? '' : value.type
}
