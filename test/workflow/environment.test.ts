/** What commands find in their environment: files of variables, parameters, and lists as words. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

test('variables of env_file stand over those of the process and below env, the last file first', async () => {
  cli = new CliFixture(`
env_file: [common.env, eu.env]
env: { OWN: document }
steps: [{ shell: 'echo "$INHERITED|$REGION|$OWN|$QUOTED|$PLAIN|\${env.REGION}" > said' }]
`)
  cli.env['INHERITED'] = 'process'
  cli.write('common.env', '# a comment\nREGION=us\nINHERITED=file\nOWN=file\nexport QUOTED="a \\"b\\" $HOME # c"\n')
  cli.write('eu.env', "\n REGION = 'eu' # here\nPLAIN=a b # c\n")
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(0)
  expect(cli.read('said')).toBe('file|eu|document|a "b" $HOME # c|a b|eu\n')
})

test('a resume reads them again; they are not recorded, and secrets may come from them', async () => {
  cli = new CliFixture(`
env_file: .env
secrets: [TOKEN]
steps: [{ id: a, shell: 'echo "$TOKEN" >> said; echo "is $TOKEN"; test -e go || sleep 60' }]
`)
  cli.write('.env', 'TOKEN=first-secret\n')
  await cli.killed(RUN, () => cli.count('said') === 1)
  cli.write('.env', 'TOKEN=second-secret\n')
  cli.write('go', '')
  const { code, stderr } = await cli.reprise('resume', 'r1')
  expect(code, stderr).toBe(0)
  expect(cli.read('said')).toBe('first-secret\nsecond-secret\n')
  const { stdout } = await cli.reprise('logs', 'r1')
  expect(stdout).not.toContain('second-secret')
  expect(stdout).toContain('is ***')
  await cli.ledger(async (ledger) => {
    const kept = JSON.stringify([await ledger.definition('r1'), await ledger.run('r1'), await ledger.list({})])
    expect(kept).not.toMatch(/first-secret|second-secret/)
  })
})

test('a file that is missing or cannot be understood is refused with its line, and no value is shown', async () => {
  cli = new CliFixture("env_file: .env\nsteps: [{ shell: 'echo x > said' }]\n")
  const missing = await cli.reprise(...RUN)
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('`env_file` cannot be read')])
  cli.write('.env', 'A=1\nwhat is this\nB="hidden-value\n')
  const wrong = await cli.reprise(...RUN)
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('.env:2')
  expect(wrong.stderr).toContain('the quotes of B do not fit')
  expect(wrong.stderr).not.toContain('hidden-value')
  expect(cli.has('said')).toBe(false)
})

test('parameters are variables of every command, also of a program and a map', async () => {
  cli = new CliFixture(`
params: { region: eu, hosts: [a, b], big: { n: 1 } }
steps:
  - { shell: 'echo "$REPRISE_PARAM_region $REPRISE_PARAM_hosts $REPRISE_PARAM_big" > shell' }
  - { run: [sh, -c, 'echo "$REPRISE_PARAM_region" > run'] }
  - { map: { input: [1], agent_template: [{ shell: 'echo "$REPRISE_PARAM_region" > item' }] } }
`)
  const { code, stderr } = await cli.reprise(...RUN, '--param', 'region=us')
  expect(code, stderr).toBe(0)
  expect([cli.read('shell'), cli.read('run'), cli.read('item')]).toEqual(['us ["a","b"] {"n":1}\n', 'us\n', 'us\n'])
})

test('the elements of a list are words of shell text, whatever they hold', async () => {
  cli = new CliFixture(`
params: { hosts: ['a b', '$(touch pwned)', "it's", ''], none: [] }
steps:
  - id: words
    shell: |
      printf '<%s>' \${hosts[*]} end > words
      printf '<%s>' \${none[*]} none > empty
      for host in \${hosts[*]}; do echo "$host" >> each; done
      mine=(\${hosts[*]}); echo "\${#mine[@]}" > count
  - { id: json, shell: 'echo "[1, 2]"', capture: numbers, capture_format: json }
  - { id: after, shell: 'echo \${numbers[*]} \${steps.json.output[*]} > after' }
`)
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(0)
  expect(cli.read('words')).toBe("<a b><$(touch pwned)><it's><><end>")
  expect([cli.read('empty'), cli.read('count'), cli.read('after')]).toEqual(['<none>', '4\n', '1 2 1 2\n'])
  expect(cli.read('each')).toBe("a b\n$(touch pwned)\nit's\n\n")
  expect(cli.has('pwned')).toBe(false)
})

test.each([
  ['echo "${hosts[*]}"', 'it stands for whole words'],
  ['echo --host=${hosts[*]}', 'it stands for whole words'],
  ['eval ${hosts[*]}', 'cannot be used'],
  ['sh -c ${hosts[*]}', 'cannot be used'],
  ['echo ${host[*]}', ''],
])('%s is refused before anything runs, if it is ours', async (text, why) => {
  cli = new CliFixture(`params: { hosts: [a] }\nsteps: [{ shell: ${JSON.stringify(text)} }]\n`)
  const { code, stdout, stderr } = await cli.reprise('validate', 'workflow.yaml')
  expect(code, stdout + stderr).toBe(why === '' ? 0 : 2)
  expect(stdout + stderr).toContain(why)
})

test('what is no list, and an element that is no word, fail the step with a sentence', async () => {
  cli = new CliFixture('params: { host: a }\nsteps: [{ shell: "echo ${host[*]}" }]\n')
  const text = await cli.reprise(...RUN)
  expect([text.code, text.stderr]).toEqual([1, expect.stringContaining('`${host[*]}`: this is text, not a list')])
  cli.write('workflow.yaml', 'params: { hosts: [a, [b]] }\nsteps: [{ shell: "echo ${hosts[*]}" }]\n')
  const nested = await cli.reprise('run', 'workflow.yaml')
  expect(nested.stderr).toContain('element 1 is a list, which is no word')
})
