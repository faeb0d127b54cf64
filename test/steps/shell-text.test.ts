/**
 * Values in shell text, run by real shells: whatever the value and wherever it stands, what arrives is the value, and
 * nothing of it is executed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findProgram } from '../../packages/workflow/src/steps/program.js'
import { compileShell, type ShellProgram } from '../../packages/workflow/src/values/shell-text.js'
import { directory } from './step-fixture.js'

const PATH = process.env['PATH'] ?? ''
const isKnown = (name: string): boolean => name === 'v'

/** Each prints the value, or what is around it too, and a NUL. */
const PLACES: readonly (readonly [text: string, printed: (value: string) => string])[] = [
  ["printf '%s\\0' ${v}", (v) => v],
  ["printf '%s\\0' a${v}b${v}", (v) => `a${v}b${v}`],
  ['printf \'%s\\0\' "x ${v} y"', (v) => `x ${v} y`],
  ["printf '%s\\0' 'x ${v} y'", (v) => `x ${v} y`],
  ['printf \'%s\\0\' "\'${v}\'" \\"${v}\\"', (v) => `'${v}'\0"${v}"`],
  ['a=${v} b="${v}"; printf \'%s\\0\' "$a$b"', (v) => v + v],
  ['A=${v} sh -c \'printf "%s\\0" "$A"\'', (v) => v],
  ['sh -c \'printf "%s\\0" "$1"\' _ ${v}', (v) => v],
  ["printf '%s\\0' \"$(printf '%s.' ${v})\"", (v) => `${v}.`],
  ['printf \'%s\\0\' "$(printf \'%s.\' "${v}")"', (v) => `${v}.`],
  ["x=$(printf '%s.' \"$(printf '%s.' '${v}')\"); printf '%s\\0' \"$x\"", (v) => `${v}..`],
  ["printf '%s\\0' \"${NOT_SET:-$(printf '%s.' ${v})}\"", (v) => `${v}.`],
  ["cat <<END\n<${v}>\nEND\nprintf '\\0'", (v) => `<${v}>\n`],
  ["cat <<-END\n\t<${v}>\n\tEND\nprintf '\\0'", (v) => `<${v}>\n`],
  ["cat <<END\n$(printf '%s.' ${v}) 'single' \"double\"\nEND\nprintf '\\0'", (v) => `${v}. 'single' "double"\n`],
  ['x=$(cat <<END\n${v}.\nEND\n); printf \'%s\\0\' "$x"', (v) => `${v}.`],
  ["cat <<A - <<'B' | tr -d q\n${v}\nA\n$${v} it's\nB\nprintf '\\0'", () => "${v} it's\n"],
  ["cat <<END - $(\necho /dev/null\n)\n'${v}\nEND\nprintf '\\0'", (v) => `'${v}\n`],
  ["cat <<END && (\n'${v}\nEND\nprintf '\\0')", (v) => `'${v}\n`],
  ['for x in ${v} b; do printf \'%s\\0\' "$x"; done', (v) => `${v}\0b`],
  ["case ${v} in *) printf '%s\\0' ${v};; esac", (v) => v],
  ["x=$(case a in a) printf '%s.' ${v};; esac); printf '%s\\0' \"$x\"", (v) => `${v}.`],
  ["if [ ${v} = ${v} ]; then printf '%s\\0' ${v}; fi", (v) => v],
  ['f() { printf \'%s\\0\' "$1"; }; f ${v}', (v) => v],
  ["{ printf '%s' ${v}; printf '\\0'; } 2>&1", (v) => v],
  ["( printf '%s\\0' ${v} )", (v) => v],
  ["# don't mind ${v}\nprintf '%s\\0' ${v} # it's \"${v}", (v) => v],
  ["printf '%s\\0' $((1 + $(printf '%s' ${v} | wc -c)))", (v) => String(1 + Buffer.byteLength(v))],
  ["printf '%s\\0' \\${v} $${v:-x}", () => '${v}\0x'],
  ["printf '%s\\0' a\\\n${v}", (v) => `a${v}`],
]
const BASH_PLACES: typeof PLACES = [
  ["cat <<< ${v}; printf '\\0'", (v) => `${v}\n`],
  ["if [[ ${v} == ${v} && -n x${v} ]]; then printf '%s\\0' ${v}; fi", (v) => v],
  ["if [[ x =~ ^(x|y)$ ]]; then printf '%s\\0' ${v}; fi", (v) => v],
  ['a=(x ${v} \'y ${v}\'); printf \'%s\\0\' "${a[1]}" "${a[2]}"', (v) => `${v}\0y ${v}`],
  ["printf '%s\\0' $'it\\'s ${v}\\t'", (v) => `it's ${v}\t`],
  ["cat <(printf '%s' ${v}); printf '\\0'", (v) => v],
  ['eval "printf \'%s\\\\0\' $(printf %q ${v})"', (v) => v],
  ["((1 << 2)); printf '%s\\0' ${v}", (v) => v],
  ["bash -s -- ${v} <<'END'\nprintf '%s\\0' \"$1\"\nEND", (v) => v],
]

/** Whole programs that a value might be taken for a part of. */
const ATTACKS = [
  '$(touch canary)',
  '`touch canary`',
  'a[$(touch canary)]',
  ';touch canary;',
  '";touch canary;"',
  "';touch canary;'",
  '\ntouch canary\n',
  '\nEND\ntouch canary\n',
  ')touch canary;(',
  '|touch canary',
  '&& touch canary',
]
const hostile = fc.oneof(
  fc.constantFrom(
    ...ATTACKS,
    '',
    ' ',
    '*',
    '-n',
    '--',
    '-',
    '~',
    '\\',
    "'",
    '"',
    '${v}',
    '$',
    '\n',
    '\r\n',
    'é漢🎉',
    '{a,b}',
    '!!',
  ),
  fc
    .array(
      fc.constantFrom(
        ...'\'"`$\\(){}[]*?;&|<>#~!-=% \n\t\r/.aé'.split(''),
        '🎉',
        '$(',
        '${v}',
        'END\n',
        '\\\n',
        '$((',
        'touch canary',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/\0|\p{Surrogate}/gu, '')),
)

function compiled(text: string): ShellProgram {
  const program = compileShell(text, isKnown)
  if ('problem' in program) throw new Error(`${program.problem}: ${text}`)
  return program
}

function printedBy(shell: readonly string[], text: string, value: string, cwd: string): string {
  const program = compiled(text)
  const env = { PATH, ...Object.fromEntries(program.variables.map(({ name }) => [name, value])) }
  const [command = '', ...args] = shell
  const { stdout, stderr, status } = spawnSync(command, [...args, program.text], { cwd, env })
  if (status !== 0) throw new Error(`exit ${status}: ${String(stderr)}\n${program.text}`)
  return stdout.toString()
}

const SHELLS: readonly (readonly [name: string, argv: readonly string[], places: typeof PLACES])[] = [
  ['bash', ['bash', '-euo', 'pipefail', '-c'], [...PLACES, ...BASH_PLACES]],
  ['sh', ['sh', '-eu', '-c'], PLACES],
]

describe.each(SHELLS.filter(([name]) => findProgram(name, { PATH }, '/') !== null))('in %s', (_, shell, places) => {
  it.each(places)('%s prints the value', (text, printed) => {
    const dir = directory()
    for (const value of ['$(touch canary) \'a\' "b" `c` \\ *', '-n', '', 'x\n']) {
      expect(printedBy(shell, text, value, dir)).toBe(`${printed(value)}\0`)
    }
    expect(readdirSync(dir)).toEqual([])
  })

  it('any value arrives whole in every place, and nothing of it is executed', () => {
    const dir = directory()
    const all = places.map(([text]) => text).join('\n')
    fc.assert(
      fc.property(hostile, (value) => {
        expect(printedBy(shell, all, value, dir)).toBe(places.map(([, printed]) => `${printed(value)}\0`).join(''))
        expect(readdirSync(dir)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('whatever the text, a value in it is never executed', { timeout: 120_000 }, () => {
    const dir = path.join(directory(), 'inner')
    const token = fc.constantFrom(...TOKENS)
    const text = fc.array(token, { minLength: 2, maxLength: 12 }).map((parts) => `${parts.join('')}\${v}`)
    fc.assert(
      fc.property(text, fc.constantFrom(...ATTACKS), (program, value) => {
        const made = compileShell(program, isKnown)
        if ('problem' in made || made.variables.length === 0) return
        mkdirSync(dir)
        const env = { PATH, ...Object.fromEntries(made.variables.map(({ name }) => [name, value])) }
        spawnSync(shell[0] ?? '', ['-c', made.text], {
          cwd: dir,
          env,
          stdio: 'ignore',
          timeout: 2000,
          killSignal: 'SIGKILL',
        })
        const isExecuted = existsSync(path.join(dir, 'canary'))
        rmSync(dir, { recursive: true })
        expect(isExecuted, made.text).toBe(false)
      }),
      { numRuns: 200 },
    )
  })
})

const TOKENS = [
  ...['"', "'", '$(', ')', ')', '((', '))', '(', '`', '$((', '))', '$[', ']', '${X:-', '}', "$'", '<(', '\\', '# '],
  ...[
    '<<END\n',
    '\nEND\n',
    "<<'END'\n",
    '<<-E\n',
    '<<<',
    'echo ',
    'echo ',
    ' ',
    ' ',
    ';',
    '\n',
    '|',
    '&&',
    '${v}',
    '${v}',
  ],
  ...['[[ ', ' ]]', ' -eq ', '-v ', 'test ', '[ ', 'a[', ']=', 'a=(', 'x=', 'case x in ', 'x) ', ';; ', 'esac', '1'],
  ...['let ', 'unset ', 'declare ', '-i ', 'export ', 'printf -v ', 'trap ', 'eval ', 'bash -c ', 'sh ', 'command '],
  ...['if ', '; then ', '; fi', 'for i in ', '; do ', '; done', '{ ', ' }', 'f() ', '@(', '! ', '=~ ', '== '],
]
