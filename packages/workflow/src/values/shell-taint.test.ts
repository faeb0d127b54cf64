import { describe, expect, it } from 'vitest'
import { taintNotes } from './shell-taint.js'

const isKnown = (name: string): boolean => name === 'n'

describe('a variable with a value of ours', () => {
  it.each([
    ['x=${n}; echo $((x + 1))', 'arithmetic'],
    ['x=${n}; echo $(( $x + 1 ))', 'arithmetic'],
    ['export x=${n}\n((x > 1)) && echo', 'arithmetic'],
    ['x=${n}; let y=x+1', 'arithmetic'],
    ['x=${n}; [[ $x -gt 1 ]]', '`[[ ]]`'],
    ['x=${n}; [[ 1 -lt "${x}" ]]', '`[[ ]]`'],
    ['x=${n}; [[ 1 -lt x ]]', '`[[ ]]`'],
    ['x=${n}; echo "${y:x:1}"', 'part of a text'],
    ['x=${n}; echo "${!x}"', 'indirect name'],
    ['x=${n}; echo "${list[x]}"', 'subscript'],
    ['for x in ${n}; do echo $((x)); done', 'arithmetic'],
    ['read -r x <<< ${n}; echo $((x))', 'arithmetic'],
    ['x=$(echo ${n}); echo $((x))', 'arithmetic'],
    ['x=${n}; printf -v "$x" hi', 'place of a name'],
    ['x=${n}; read -r $x < file', 'place of a name'],
    ['x=${n}; unset -v "${x}"', 'place of a name'],
    ['x=${n}; test -v "$x"', 'place of a name'],
    ['x=${n}; [[ -n a && -v $x ]]', 'place of a name'],
    ['x=${n}; export "$x=1"', 'place of a name'],
    ['x=${n}; declare -i y=$x', '`declare`'],
    ['x=${n}; local -rn y="$x"', '`declare`'],
    ['x=${n}; eval "echo $x"', '`eval`'],
    ['x=${n}; sh -c "echo $x"', 'program text'],
    ['x=${n}; echo "$x" | sh', 'reads as its program'],
  ])('%s gets a note about %s, with the cure', (text, where) => {
    expect(taintNotes(text, isKnown)).toEqual([expect.stringContaining(where)])
    expect(taintNotes(text, isKnown)[0]).toMatch(
      /^`\$x` has the value of a reference, and bash evaluates it in .*: .*\.$/,
    )
  })

  it.each([
    'x=$(printf %d ${n}); echo $((x + 1))',
    'x=${n}; echo $(( $(printf %d "$x") + 1 ))',
    'x=${n}; [ "$x" -gt 1 ]',
    'x=${n}; printf -v y %s "$x"; read -rp "$x" y; export y=$x; declare y=$x; [[ -n $x ]]',
    'x=${n}; [[ $x == a ]] && [[ 1 -gt 0 ]]',
    'x=${n}; echo "${y:-x}" "${#x}" "${x%.txt}"',
    'y=1; echo $((y + 1)) ${n}',
    'x=${n}; X=$x sh -c \'echo "$X"\'',
    'x=${n}; echo "$x" | sh run.sh',
    'x=${n}; echo "$x',
    'echo "${HOME}"',
  ])('%s gets none', (text) => {
    expect(taintNotes(text, isKnown)).toEqual([])
  })

  it('is looked for soon in any text', () => {
    const start = performance.now()
    for (const part of ['((', '[[ ', '${a:', 'x=${n};', 'let ', 'eval ', '$x'])
      taintNotes(`x=\${n};${part.repeat(60_000 / part.length)}`, isKnown)
    expect(performance.now() - start).toBeLessThan(5000)
  })
})
