/**
 * The completion script of zsh, for `_arguments` of its completion system. Imports the model.
 *
 * The script holds what can be typed, and asks `reprise` only for ids in the store.
 */
import { LIVE_COMMAND } from '../live-command.js'
import { type Completed, type CompletedCommand, type CompletedFlag, GLOBAL_FLAGS } from './model.js'

export function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef reprise
# Completion of reprise for zsh, made by \`reprise completion zsh\`.

# Adds ids in the store: the kind, the run.
_reprise_live() {
  local -a found given
  local i line
  for ((i = 2; i < $#_reprise_typed; i++)); do
    case $_reprise_typed[i] in
    --store) given=(--store "\${(Q)_reprise_typed[i+1]}") ;;
    --store=*) given=(--store "\${(Q)_reprise_typed[i]#--store=}") ;;
    esac
  done
  for line in "\${(@f)$(_call_program reprise-ids "\${(q)_reprise_typed[1]}" ${LIVE_COMMAND} "\${(q)@}" "\${(q)given[@]}" 2>/dev/null </dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#found )) && _describe -t reprise-ids "\${1%s}" found
}

${commands.map(commandFunction).join('\n\n')}

_reprise() {
  local -a _reprise_typed=("\${words[@]}")
  _reprise_at
}

if [[ $funcstack[1] == _reprise ]]; then
  _reprise "$@"
else
  compdef _reprise reprise
fi
`
}

function commandFunction({ path, subcommands, flags, values, isRest }: CompletedCommand): string {
  const all = [...flags, ...GLOBAL_FLAGS].flatMap(flagSpecs)
  const hasSteps = [...values, ...flags.map((flag) => flag.value)].some(isSteps)
  const specs = [...all, ...(subcommands.length > 0 ? SUBCOMMAND_SPECS : valueSpecs(values, isRest))]
  const cases = [
    ...(subcommands.length > 0 ? [subcommandCase(path, subcommands)] : []),
    ...(hasSteps ? ['    steps) [[ -n $line[1] ]] && _reprise_live steps "${(Q)line[1]}" && ret=0 ;;'] : []),
  ]
  const handled = cases.length === 0 ? '' : `\n  case $state in\n${cases.join('\n')}\n  esac`
  return `${functionOf(path)}() {
  local curcontext="$curcontext" state line ret=1
  local -A opt_args
  _arguments -C -s -S \\
${specs.map((spec) => `    ${quoted(spec)}`).join(' \\\n')} && ret=0${handled}
  return ret
}`
}

const SUBCOMMAND_SPECS = ['(-)1:command:->names', '(-)*::argument:->rest']

function subcommandCase(path: readonly string[], subcommands: CompletedCommand['subcommands']): string {
  const names = subcommands.map(({ name, text }) => `        ${quoted(`${name}:${text}`)}`).join('\n')
  const calls = subcommands.map(({ name }) => `      ${name}) ${functionOf([...path, name])} && ret=0 ;;`).join('\n')
  return `    names)
      local -a names=(
${names}
      )
      _describe -t commands command names && ret=0 ;;
    rest)
      case $line[1] in
${calls}
      esac ;;`
}

function functionOf(path: readonly string[]): string {
  return ['_reprise_at', ...path].join('_').replaceAll('-', '_')
}

function valueSpecs(values: readonly Completed[], isRest: boolean): string[] {
  return values.map((value, index) => {
    const isMany = isRest && index === values.length - 1
    if (value.type === 'command') return '*:::command:_normal'
    return `${isMany ? '*' : index + 1}:${titleOf(value)}:${actionOf(value)}`
  })
}

function flagSpecs({ names, text, value, repeats }: CompletedFlag): string[] {
  const said = text.replaceAll(/[\\[\]:]/g, String.raw`\$&`)
  const others = repeats || names.length === 1 ? '' : `(${names.join(' ')})`
  return names.map((name) => {
    const lead = `${repeats ? '*' : others}${name}`
    if (value === undefined) return `${lead}[${said}]`
    return `${lead}${name.startsWith('--') ? '=' : '+'}[${said}]:${titleOf(value)}:${actionOf(value)}`
  })
}

function titleOf(value: Completed): string {
  return value.type === 'live' ? value.kind.replace(/s$/, '') : value.type === 'words' ? 'word' : 'value'
}

function actionOf(value: Completed): string {
  switch (value.type) {
    case 'files':
      return '_files'
    case 'directories':
      return '_files -/'
    case 'words':
      return `(${value.words.join(' ')})`
    case 'live':
      return value.kind === 'steps' ? '->steps' : ` _reprise_live ${value.kind}`
    case 'command':
      return '_normal'
    case 'nothing':
      return ' '
  }
}

function isSteps(value: Completed | undefined): boolean {
  return value?.type === 'live' && value.kind === 'steps'
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
