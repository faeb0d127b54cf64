import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runProgram } from '../program.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-validate-'))
afterAll(() => rmSync(directory, { recursive: true }))

function fileWith(name: string, text: string): string {
  const file = path.join(directory, name)
  writeFileSync(file, text)
  return file
}

async function run(args: readonly string[], typed = '') {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const stdin = (async function* (): AsyncGenerator<string> {
    yield typed
  })()
  const code = await runProgram(args, { stdin, stdout: output('stdout'), stderr: output('stderr'), env: {} })
  return { code, ...written }
}

const good = fileWith('good.yaml', 'steps:\n  - shell: x\n  - {shell: y, retry: {attempts: 3, jitter: full}}\n')
const single = fileWith('single.yaml', 'steps: [{shell: x}]\n')
const policy = fileWith('policy.yaml', 'attempts: 3\njitter: none\n')
const bad = fileWith('bad.yaml', 'steps:\n  - shel: x\n    retry: {attempts: 0}\n')
const odd = fileWith(
  'odd.yaml',
  'steps: [{id: a, shell: x, retry: {max_delay: 1s, initial_delay: 5s, jitter: full}}]\n',
)

test('a file that is right gets a line that says what is in it', async () => {
  expect(await run(['validate', good, single, policy])).toEqual({
    code: 0,
    stdout: `${good}: ok, 2 steps\n${single}: ok, 1 step\n${policy}: ok, a policy\n`,
    stderr: '',
  })
})

test('a file that is not there is answered with the one that was meant, or with how to make one', async () => {
  const hintFor = async (file: string): Promise<string> => (await run(['validate', file])).stderr.split('\n')[1] ?? ''
  expect(await hintFor(path.join(directory, 'god.yaml'))).toBe(`  hint: did you mean \`${good}\`?`)
  expect(await hintFor(path.join(directory, 'none', 'x.yaml'))).toBe(
    '  hint: `reprise init` writes an example to start from',
  )
})

test('settings of other tools are not named beside a file that is not there', async () => {
  fileWith('docker-compose.yaml', 'services:\n  web: {image: x}\n')
  fileWith('package.json', '{\n  "name": "x"\n}\n')
  fileWith('.ci.yml', 'jobs:\n  test:\n    steps: []\n')
  const { stderr } = await run(['validate', path.join(directory, 'quite-another.yaml')])
  expect(stderr).toContain('has bad.yaml, good.yaml, odd.yaml, policy.yaml, single.yaml\n')
})

test('every problem of every file is told, and the exit code is 2', async () => {
  const other = fileWith('other.yaml', 'attemps: 3\n')
  const { code, stdout, stderr } = await run(['validate', bad, good, other, path.join(directory, 'nowhere.yaml')])
  expect(code).toBe(2)
  expect(stdout).toBe(`${good}: ok, 2 steps\n`)
  expect(stderr).toBe(`${bad}:2:5: error: steps[0].shel: unknown field
    2 │   - shel: x
      │     ^
  hint: did you mean \`shell\`?

${bad}:3:23: error: steps[0].retry.attempts: 0 is not a whole number from 1 to 1000
    3 │     retry: {attempts: 0}
      │                       ^

${other}:1:1: error: attemps: unknown field
    1 │ attemps: 3
      │ ^
  hint: did you mean \`attempts\`?

${path.join(directory, 'nowhere.yaml')}: error: no such file
  hint: ${directory} has bad.yaml, good.yaml, odd.yaml, policy.yaml, single.yaml

3 of 4 files have problems.
`)
})

test('as data there is everything about every file', async () => {
  const { code, stdout, stderr } = await run(['validate', bad, good, policy, '--json'])
  expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({
    files: [
      {
        file: bad,
        ok: false,
        kind: 'workflow',
        problems: [
          {
            file: bad,
            line: 2,
            column: 5,
            path: 'steps[0].shel',
            message: 'unknown field',
            suggestion: 'did you mean `shell`?',
          },
          {
            file: bad,
            line: 3,
            column: 23,
            path: 'steps[0].retry.attempts',
            message: '0 is not a whole number from 1 to 1000',
          },
        ],
        notes: [],
      },
      { file: good, ok: true, kind: 'workflow', steps: 2, problems: [], notes: [] },
      { file: policy, ok: true, kind: 'policy', problems: [], notes: [] },
    ],
  })
})

test('a file that cannot be read is of no kind', async () => {
  const { stdout } = await run(['validate', directory, '--json'])
  const problems = [{ file: directory, message: 'this is a directory, not a file' }]
  expect(JSON.parse(stdout)).toEqual({ files: [{ file: directory, ok: false, kind: null, problems, notes: [] }] })
})

test('what is allowed but odd is noted, unless it is to be quiet', async () => {
  const { code, stderr } = await run(['validate', odd])
  expect(code).toBe(0)
  expect(stderr).toMatch(/odd\.yaml: note: Step a: The maximum delay 1s is below the initial delay 5s/)
  expect((await run(['-q', 'validate', odd])).stderr).toBe('')
  expect((await run(['validate', fileWith('step.yaml', 'retry: 3\nshell: x\n')])).stderr).toContain(
    'Not looked at: `shell`.',
  )
})

test.each([
  ['steps: [{shell: x, retry: 3}]', true],
  ['retry_defaults: {attempts: 3}\nsteps: [{shell: x}]', true],
  ['attempts: 3', true],
  ['steps: [{shell: x, retry: {backoff: fixed}}]', false],
  ['steps: [{shell: x, retry: {jitter: none}}]', false],
  ['retry_defaults: {jitter: false}\nsteps: [{shell: x, retry: 3}]', false],
  ['steps: [{shell: x}]', false],
])('`jitter: full` is proposed to a file that retries and says nothing of jitter: %j %s', async (text, isProposed) => {
  const file = fileWith('silent.yaml', `${text}\n`)
  const { code, stderr } = await run(['validate', file])
  const note = `${file}: note: Without jitter, callers that failed together return together: \`jitter: full\` spreads them`
  expect(code).toBe(0)
  expect(stderr.startsWith(note)).toBe(isProposed)
  expect((await run(['run', file, '--dry-run'])).stderr).not.toContain('jitter')
})

test('`run` writes the same notes', async () => {
  const { stderr } = await run(['run', odd, '--dry-run'])
  expect(stderr).toContain((await run(['validate', odd])).stderr)
  expect((await run(['-q', 'run', odd, '--dry-run'])).stderr).not.toContain('note:')
})

test('a budget of a file with a policy is checked too', async () => {
  const { code, stderr } = await run(['validate', fileWith('budget.yaml', 'attempts: 3\nbudgets: {a: {type: rato}}\n')])
  expect(code).toBe(2)
  expect(stderr).toContain('did you mean `ratio`?')
})

test('- is stdin', async () => {
  expect(await run(['validate', '-'], 'steps: [{shell: x}]')).toMatchObject({
    code: 0,
    stdout: '<stdin>: ok, 1 step\n',
  })
  expect((await run(['validate', '-', '--json'], 'steps: 5')).stdout).toContain('"file": "<stdin>"')
})

test.each(['validate', 'schema'])('the help of %s starts with examples', async (command) => {
  const { code, stdout } = await run([command, '--help'])
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^Examples:\\n {2}reprise ${command} `))
})

test('the schema is one for workflows, or for policies', async () => {
  const workflow = JSON.parse((await run(['schema'])).stdout) as Record<string, unknown>
  expect(workflow).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Reprise workflow',
    type: 'object',
    if: { properties: { mode: { const: 'mapreduce' } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: { map: { description: expect.stringContaining('every item') } }, additionalProperties: false },
    else: {
      properties: { steps: { type: 'array', description: expect.stringContaining('one after the other') } },
      additionalProperties: false,
    },
  })
  expect(JSON.parse((await run(['schema', 'policy'])).stdout)).toMatchObject({ title: 'Reprise policy' })
  const wrong = await run(['schema', 'polcy'])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('polcy is not a kind: it is one of workflow, policy, job\nDid you mean policy?')
})

test('the help of the schema says how an editor finds it', async () => {
  expect((await run(['schema', '--help'])).stdout).toContain('# yaml-language-server: $schema=workflow.schema.json')
})

const login = 'steps: [{shell: x}]\n'

test('a job is checked with the workflows that it names', async () => {
  fileWith('login.yaml', login)
  const job = fileWith('job.yaml', 'mode: job\ndatacenters: [eu, us]\nworkflows: [{name: login, file: login.yaml}]\n')
  expect(await run(['validate', job])).toEqual({ code: 0, stdout: `${job}: ok, a job of 1 workflow\n`, stderr: '' })
  const wrong = fileWith('wrong.yaml', 'mode: job\ndatacenters: [eu]\nworkflows: [{name: a, file: none.yaml}]\n')
  const { code, stderr } = await run(['validate', wrong])
  expect(code).toBe(2)
  expect(stderr).toContain(`${wrong}:3:29: error: workflows[0].file: none.yaml: no such file`)
})

test('a job is explained with its limits and how it ends, and is not run as a workflow', async () => {
  fileWith('login.yaml', login)
  const job = fileWith(
    'probe.yaml',
    'mode: job\ndatacenters: [eu, us]\nworkflows: [{name: login, file: login.yaml}]\nretry_budget: 80\nbest_effort: true\n',
  )
  const { code, stdout } = await run(['explain', job])
  expect(code).toBe(0)
  expect(stdout).toContain('It completes at once when 1 of 2 datacenters have completed.')
  expect(stdout).toContain('changed: retry_budget: 80 lowered to 50, the most that the operator allows')
  const refused = await run(['run', job])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('this is a job, and not a workflow')
})
