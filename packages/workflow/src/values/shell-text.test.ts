import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileShell } from './shell-text.js'

const isKnown = (name: string): boolean => ['items', 'item'].includes(name)

function textOf(text: string): string {
  const compiled = compileShell(text, isKnown)
  if ('problem' in compiled) throw new Error(`${compiled.offset}: ${compiled.problem}`)
  return compiled.text.replaceAll('__reprise_', 'v')
}

describe('shell text with references', () => {
  it.each([
    ['echo ${items}', 'echo "${v1}"'],
    ['echo "a ${items} b"', 'echo "a ${v1} b"'],
    ["echo 'a ${items} b'", "echo 'a '\"${v1}\"' b'"],
    ["echo $'a\\'${items}'", "echo $'a\\''\"${v1}\"$''"],
    ['cat <<END\n${items}\nEND\necho ${items}', 'cat <<END\n${v1}\nEND\necho "${v1}"'],
    ['echo ${items} ${item.id} ${items}', 'echo "${v1}" "${v2}" "${v1}"'],
    ['echo ${items[0]} ${item["a b"]}', 'echo "${v1}" "${v2}"'],
    ['echo "$(ls ${items} | grep "${item.id}")"', 'echo "$(ls "${v1}" | grep "${v2}")"'],
    ['X=${items} cmd > ${item.file} 2>&1', 'X="${v1}" cmd > "${v2}" 2>&1'],
    ['export "X=${items}" Y=${items}', 'export "X=${v1}" Y="${v1}"'],
    ['[ ${items} -eq 1 ]', '[ "${v1}" -eq 1 ]'],
    ['read -p "${items}" x < ${items}', 'read -p "${v1}" x < "${v1}"'],
    ['ssh -p 22 ${item.host} "ls $(printf %q ${items})"', 'ssh -p 22 "${v1}" "ls $(printf %q "${v2}")"'],
    ['bash run.sh <<END\n${items}\nEND', 'bash run.sh <<END\n${v1}\nEND'],
    ['bash -c \'ls "$1"\' _ ${items}', 'bash -c \'ls "$1"\' _ "${v1}"'],
    ['echo $(( $(wc -l < ${items}) + 1 ))', 'echo $(( $(wc -l < "${v1}") + 1 ))'],
    ["# ${items} is'nt\necho ${items}", '# ${items} is\'nt\necho "${v1}"'],
    ['echo x#${items}', 'echo x#"${v1}"'],
    ['echo ${X:-$(id ${items})}', 'echo ${X:-$(id "${v1}")}'],
    ['curl -fsSL ${items} | sh', 'curl -fsSL "${v1}" | sh'],
    ['echo ${items} | grep sh', 'echo "${v1}" | grep sh'],
    ['echo ${items} | wc -c | sh', 'echo "${v1}" | wc -c | sh'],
    ['echo ${items}; cat x | sh', 'echo "${v1}"; cat x | sh'],
    ['{ echo ${items}; }; { cat x; } | sh', '{ echo "${v1}"; }; { cat x; } | sh'],
    ['echo ${items} || sh', 'echo "${v1}" || sh'],
    ['echo ${items} | sh run.sh', 'echo "${v1}" | sh run.sh'],
    ['printf %q ${items} | sh', 'printf %q "${v1}" | sh'],
    ['echo $(( $(printf %d ${items}) + 1 ))', 'echo $(( $(printf %d "${v1}") + 1 ))'],
    ['[[ $(echo ${items} | wc -c) -gt 3 ]]', '[[ $(echo "${v1}" | wc -c) -gt 3 ]]'],
    ['bash run.sh <(echo ${items})', 'bash run.sh <(echo "${v1}")'],
    ["awk -v v=${items} '{ print v }' f", 'awk -v v="${v1}" \'{ print v }\' f'],
    ['awk -f x.awk ${items}', 'awk -f x.awk "${v1}"'],
    ["sed -i 's/a/b/' ${items}", 'sed -i \'s/a/b/\' "${v1}"'],
    ['sed -e p -- ${items}', 'sed -e p -- "${v1}"'],
    ['perl -I${items} x.pl', 'perl -I"${v1}" x.pl'],
    ['parallel -j 2 convert ::: ${items}', 'parallel -j 2 convert ::: "${v1}"'],
    ['watch -n ${items} -x ls ${items}', 'watch -n "${v1}" -x ls "${v1}"'],
    ['read -rp ${items} answer', 'read -rp "${v1}" answer'],
    ['python3 -m x ${items}', 'python3 -m x "${v1}"'],
    ['echo use sed "${items}"', 'echo use sed "${v1}"'],
    ['while read -r x; do echo "$x"; done <<< ${items}', 'while read -r x; do echo "$x"; done <<< "${v1}"'],
  ])('%s is run as %s', (text, compiled) => {
    expect(textOf(text)).toBe(compiled)
  })

  it.each([
    'echo ${HOME} $HOME ${VAR:-x} "${f%.txt}" ${list[0]} ${#} ${!x}',
    'for env in a b; do echo ${env} ${run} ${steps}; done',
    "node -e 'console.log(`${process.argv[0]} ${user.name}`)'",
    "cat <<'END'\n${user.name}\nEND",
    'echo \\${items} "\\${items}"',
    'echo "unended ${HOME}',
    'echo $(( x + ${y} ))',
  ])('%s is left to the shell', (text) => {
    expect(textOf(text)).toBe(text)
  })

  it('an escaped reference is handed on without its escape', () => {
    expect(textOf('echo $${items} "$${items:-x}" \'$${item.id}\'')).toBe('echo ${items} "${items:-x}" \'${item.id}\'')
  })

  it('a field of something unknown is ours all the same: no shell has such a thing', () => {
    expect(compileShell('echo ${itmes.id}', isKnown)).toMatchObject({
      variables: [{ name: '__reprise_1', reference: { text: 'itmes.id', path: ['itmes', 'id'] } }],
    })
  })

  it.each([
    ['echo $((${items} + 1))', 8, /in arithmetic.*`expr/],
    ['((${items})) && echo', 2, /in arithmetic/],
    ['for ((i = 0; i < ${items}; i++)); do :; done', 17, /in arithmetic/],
    ['echo $[${items}]', 7, /in arithmetic/],
    ['let x=${items}', 6, /in arithmetic/],
    ['[[ ${items} -gt 1 ]]', 3, /`\[\[ \]\]`.*use `\[ \]`/],
    ['[[ -v ${items} ]]', 6, /name of a variable/],
    ['test -v ${items}', 8, /name of a variable/],
    ['a[${items}]=1', 2, /subscript/],
    ['a=([${items}]=1)', 4, /subscript/],
    ['declare -i n=${items}', 13, /in `declare` with an option/],
    ['export ${items}=1', 7, /name of a variable/],
    ['unset ${items}', 6, /name of a variable/],
    ['read ${items}', 5, /name of a variable/],
    ['printf -v ${items} x', 10, /name of a variable/],
    ['read -r ${items}', 8, /name of a variable/],
    ['read -t 5 -ra ${items}', 14, /name of a variable/],
    ['readarray -t ${items}', 13, /name of a variable/],
    ['wait -n -p ${items} $!', 11, /name of a variable/],
    ['PS4=${items}; set -x', 4, /in `PS4`/],
    ['watch -n 1 "ls ${items}"', 15, /in a command for `watch`.*printf %q/],
    ['parallel -j 2 ls ${items} ::: a', 17, /in a command for `parallel`/],
    ['eval "ls ${items}"', 9, /in `eval`.*printf %q/],
    ['trap "rm ${items}" EXIT', 9, /in `trap`/],
    ['sh -c "ls ${items}"', 10, /program text of `sh -c`.*_ "\$\{…\}"/],
    ['sudo /bin/bash -e -o pipefail -c "ls ${items}"', 37, /program text of `bash -c`/],
    ['find . -exec sh -c "ls ${items}" \\;', 23, /program text of `sh -c`/],
    ['python3 -c "print(${items})"', 18, /program text of `python3 -c`/],
    ['ssh host ls ${items}', 12, /in a command for `ssh`/],
    ['bash <<END\nls ${items}\nEND', 14, /`bash` reads as its program.*bash -s --/],
    ['ssh -i key host <<END\nls ${items}\nEND', 25, /`ssh` reads as its program/],
    ['sh <<< "ls ${items}"', 11, /`sh` reads as its program/],
    ['function f { eval "echo ${items}"; }; f', 24, /in `eval`/],
    ['function f() { eval "echo ${items}"; }; f', 26, /in `eval`/],
    ['command -p eval "echo ${items}"', 22, /in `eval`/],
    ['command -- eval "echo ${items}"', 22, /in `eval`/],
    ['time -p eval "echo ${items}"', 19, /in `eval`/],
    ['! builtin eval "echo ${items}"', 21, /in `eval`/],
    ['eval "$(echo ${items})"', 13, /in `eval`/],
    ['bash -c "$(printf "%s" ${items})"', 23, /program text of `bash -c`/],
    ['echo "${items}" | sh', 6, /`sh` reads as its program/],
    ['echo "${items}" |& bash -e', 6, /`bash` reads as its program/],
    ['echo ${items} | tee log | sudo -u x bash', 5, /`bash` reads as its program/],
    ['{ echo x; echo ${items}; } | sh', 15, /`sh` reads as its program/],
    ['(echo ${items}) | sh', 6, /`sh` reads as its program/],
    ['for x in a; do echo ${items}; done | sh', 20, /`sh` reads as its program/],
    ['if true; then printf %s ${items}; fi | sh', 24, /`sh` reads as its program/],
    ['echo ${items} | { cat; sh; }', 5, /`sh` reads as its program/],
    ['echo ${items} | (cd x && sh)', 5, /`sh` reads as its program/],
    ['echo ${items} > >(bash)', 5, /`bash` reads as its program/],
    ['cat <<E | bash\n${items}\nE', 15, /`bash` reads as its program/],
    ['cat <<E | tr a b | bash\n${items}\nE', 24, /`bash` reads as its program/],
    ['. /dev/stdin <<< "${items}"', 18, /`\.` reads as its program/],
    ['source <(echo "${items}")', 15, /`source` reads as its program/],
    ['. <(echo "${items}")', 10, /`\.` reads as its program/],
    ['bash <(echo "${items}")', 13, /`bash` reads as its program/],
    ['bash /dev/stdin <<< "${items}"', 21, /`bash` reads as its program/],
    ['<<< "${items}" bash', 5, /`bash` reads as its program/],
    ['echo ${items} | xargs sh -c', 5, /reads as its program/],
    ["echo ${items} | xargs -I{} sh -c 'ls {}'", 5, /reads as its program/],
    ['python3 -c"print(${items})"', 17, /program text of `python3 -c`/],
    ['perl -ne"print ${items}"', 15, /program text of `perl -ne`/],
    ['ruby -e"puts ${items}"', 13, /program text of `ruby -e`/],
    ['node --eval="x(${items})"', 15, /program text of `node --eval=`/],
    ['php -r"echo ${items};"', 12, /program text of `php -r`/],
    ['su --command="ls ${items}" x', 17, /program text of `su --command=`/],
    ['su -c"ls ${items}" x', 9, /program text of `su -c`/],
    ['env -S"sh ${items}"', 10, /program text of `env -S`/],
    ['"$SHELL" -c "ls ${items}"', 16, /program text/],
    ['"${SHELL}" -c "ls ${items}"', 18, /program text/],
    ['rbash -c "ls ${items}"', 13, /program text of `rbash -c`/],
    ['fish -c "ls ${items}"', 12, /program text of `fish -c`/],
    ['awk "{ print ${items} }" file', 13, /program of `awk`.*awk -v/],
    ['awk -F : "/${items}/" file', 11, /program of `awk`/],
    ['sed "s/x/${items}/" file', 9, /program of `sed`/],
    ['sed -n -e p -e "s/x/${items}/" file', 20, /program of `sed`/],
    ['sed --expression="s/x/${items}/" file', 22, /program of `sed`/],
    ['find . -exec sed -i "s/x/${items}/" {} +', 25, /program of `sed`/],
    ['echo $(( $(echo ${items}) + 1 ))', 16, /in arithmetic/],
    ["cat <<'END'\n${items}\nEND", 12, /quoted end/],
    ['cat <<\\END\n${items}\nEND', 11, /quoted end/],
    ['echo `ls ${items}`', 9, /within backticks; write `\$\(…\)`/],
    ['echo "${X:-${items}}"', 11, /within the shell's own/],
    ['echo ${items:-none}', 5, /cannot work on `items`.*`value=\$\{items\}`/],
    ['echo ${#items}', 5, /cannot work on `items`/],
    ['echo ${{ items }}', 5, /does not exist/],
    ['echo "${items}', 5, /double quote that opens here never ends/],
    ["echo '${items}", 5, /single quote that opens here never ends/],
    ['echo $(ls ${items}', 6, /parenthesis that opens here never ends/],
    ['echo ${X:-$(ls ${items})', 5, /never ends/],
    [`${'$('.repeat(60)}\${items}${')'.repeat(60)}`, 80, /nests deeper than 40 levels/],
  ])('%s is refused with the place and what to do', (text, offset, message) => {
    const compiled = compileShell(text, isKnown)
    expect(compiled).toMatchObject({ offset, problem: expect.stringMatching(message) as string })
  })

  it('reads any text, in time proportional to it', () => {
    const token = fc.constantFrom(
      '${items}',
      '"',
      "'",
      '$((',
      '((',
      '$(',
      ')',
      '`',
      '<<E\n',
      '\nE\n',
      '\\',
      '${',
      '}',
      'a ',
      '#',
      '[[ ',
      ' ]]',
      'case x in ',
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), (parts) => {
        const compiled = compileShell(parts.join(''), isKnown)
        expect('problem' in compiled ? typeof compiled.problem : typeof compiled.text).toBe('string')
      }),
    )
    for (const part of [
      '$((',
      '$(',
      '"$(',
      '((',
      '<<E ',
      '${x:-',
      'echo "${items}" \'it\';\n',
      'ssh ',
      'x <<E\n',
      '$[',
      "'${1 ",
    ]) {
      compileShell(`${part.repeat(20_000)}\${items}`, isKnown)
    }
  })
})
