/** Files that nobody means well by, or that come from elsewhere: what each is, and what is said of it first; null: fine. */

export interface HostileSample {
  readonly name: string
  readonly text: string
  readonly said: string | null
}

const STEPS = 'steps: [{shell: x}]\n'
const deep = (levels: number, open: string, close = ''): string => open.repeat(levels) + close.repeat(levels)
const indented = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}k:`).join('\n')
/** Each of ten times the one before. */
const bomb = Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n}, `.repeat(10)}]`).join('\n')

const largeMap = Array.from({ length: 20_000 }, (_, n) => `k${n}: 1`).join(', ')
/** Each thirty levels deeper than the one before. */
const tower = Array.from(
  { length: 3 },
  (_, n) => `b${n + 1}: &b${n + 1} ${deep(30, '[')}${n === 0 ? '1' : `*b${n}`} ${deep(30, ']')}`,
).join('\n')

const refused = (name: string, text: string, said: string): HostileSample => ({ name, text, said })
const fine = (name: string, text: string): HostileSample => ({ name, text, said: null })

const SIZE: readonly HostileSample[] = [
  refused('more than 1 MiB', `${STEPS}# ${'x'.repeat(1024 * 1024)}`, 'is longer than 1 MiB'),
  refused('more than 1 MiB of bytes, not of characters', `${STEPS}# ${'日'.repeat(400_000)}`, 'is longer than 1 MiB'),
  refused('brackets a million deep', deep(1_000_000, '['), 'nests deeper than 64 levels'),
  refused('brackets 65 deep', `a: ${deep(65, '[', ']')}`, 'nests deeper than 64 levels'),
  refused('braces 100 000 deep', deep(100_000, '{a: ', '}'), 'nests deeper than 64 levels'),
  refused('lists in one line 300 000 deep', deep(300_000, '- '), 'nests deeper than 64 levels'),
  refused('explicit keys 300 000 deep', deep(300_000, '? '), 'nests deeper than 64 levels'),
  refused('keys 1400 deep, each further in', indented(1400), 'nests deeper than 64 levels'),
  refused('JSON 5000 deep', deep(5000, '{"a":', '}'), 'nests deeper than 64 levels'),
  refused('more than 100 000 values', `${STEPS}params: {a: [${'1, '.repeat(110_000)}]}`, 'has too many values'),
  refused('empty values by the hundred thousand', `a: [${', '.repeat(210_000)}]`, 'has too many values'),
  refused('commas that are a fault each', `a: [${','.repeat(60_000)}]`, 'unexpected , in flow sequence'),
  fine('90 000 values', `${STEPS}params: {a: [${'1, '.repeat(90_000)}]}`),
  fine('a text of a megabyte', `steps: [{shell: "${'a '.repeat(500_000)}"}]`),
]

const ALIASES: readonly HostileSample[] = [
  refused('101 aliases', `a: &x 1\nb: [${'*x, '.repeat(101)}]`, 'has more than 100 aliases'),
  refused('aliases of aliases of aliases', `a0: &a0 [x]\n${bomb}\n`, 'aliases multiply beyond measure'),
  refused('an alias of what holds it', 'params: {a: &a [*a]}\n', '&a holds itself'),
  refused('an alias of what holds what holds it', 'params: &p {a: {b: [x, {c: *p}]}}\n', '&p holds itself'),
  refused('an alias that stands before a cycle', 'a: &a {b: &b [1], c: [*b, *a]}\n', '&a holds itself'),
  refused('aliases that nest', `${tower}\n${STEPS}`, 'nests deeper than 64 levels with its aliases written out'),
  refused(
    'aliases of a long list',
    `a: &a [${'1, '.repeat(9000)}]\nb: [${'*a, '.repeat(90)}]`,
    'has more than 100000 values with',
  ),
  refused(
    'aliases of a long text',
    `a: &a ${'x'.repeat(200_000)}\nb: [${'*a, '.repeat(90)}]`,
    'is longer than 4 MiB with',
  ),
  refused('an alias of nothing', 'a: *nobody\n', 'nothing before this is called &nobody'),
  fine('anchors and aliases', 'steps: [{shell: &c x, retry: &r {attempts: 2}}, {shell: *c, retry: *r}]'),
  fine(
    'an alias of a large map',
    `steps: [{script: {module: m, with: &w {${largeMap}}}}, {script: {module: m, with: *w}}]`,
  ),
  refused('a merge key', 'steps: [{<<: {shell: x}}]', 'merge keys are not part of YAML 1.2'),
  refused('a merge key of an alias', 'steps: [&a {shell: x}, {<<: *a, id: b}]', 'merge keys are not part of YAML 1.2'),
  refused('what looks like a merge key and is text', 'steps: [{"<<": 1, shell: x}]', 'unknown field'),
]

const PROTOTYPES: readonly HostileSample[] = [
  refused('__proto__ of the document', `__proto__: {polluted: 1}\n${STEPS}`, 'unknown field'),
  refused('constructor of the document', `constructor: {prototype: {polluted: 1}}\n${STEPS}`, 'unknown field'),
  refused('__proto__ of a step', 'steps: [{shell: x, __proto__: {polluted: 1}}]', 'unknown field'),
  refused('__proto__ of a policy', 'steps: [{shell: x, retry: {__proto__: {polluted: 1}}}]', 'unknown field'),
  refused('__proto__ of defaults', `retry_defaults: {__proto__: {polluted: 1}}\n${STEPS}`, 'unknown field'),
  refused(
    'a parameter called __proto__',
    `params: {__proto__: {polluted: 1}}\n${STEPS}`,
    '`__proto__` is a reserved word',
  ),
  refused('a parameter called constructor', `params: {constructor: 1}\n${STEPS}`, '`constructor` is a reserved word'),
  refused('a parameter called prototype', `params: {prototype: 1}\n${STEPS}`, '`prototype` is a reserved word'),
  refused('a variable called __proto__', `env: {__proto__: x}\n${STEPS}`, '`__proto__` is a reserved word'),
  refused(
    'a capture called constructor',
    'steps: [{shell: x, capture: constructor}]',
    '`constructor` is a reserved word',
  ),
  refused('a budget of a type of every object', `budgets: {a: {type: toString}}\n${STEPS}`, 'is not one of unlimited'),
  refused('a breaker that every object has', 'steps: [{shell: x, retry: {breaker: toString}}]', 'is not declared'),
  refused('a budget that every object has', 'steps: [{shell: x, retry: {budget: constructor}}]', 'is not declared'),
  fine('__proto__ in data', 'steps: [{script: {module: m, with: {__proto__: {polluted: 1}, constructor: 2}}}]'),
  fine('gates with names of objects', `breakers: {constructor: {}, __proto__: {}}\n${STEPS}`),
]

const NUMBERS: readonly HostileSample[] = [
  refused('attempts that are no number', 'steps: [{shell: x, retry: .nan}]', 'NaN is not a whole number'),
  refused('attempts without end', 'steps: [{shell: x, retry: {attempts: .inf}}]', 'Infinity is not a whole number'),
  refused('attempts beyond numbers', 'steps: [{shell: x, retry: 1e400}]', 'Infinity is not a whole number'),
  refused('a negative number of attempts', 'steps: [{shell: x, retry: -1}]', '-1 is not a whole number'),
  refused('2^53 + 1 in data', `params: {a: 9007199254740993}\n${STEPS}`, '9007199254740993 is beyond what numbers'),
  refused('1e400 in data', `params: {a: {b: [1e400]}}\n${STEPS}`, '1e400 is not a finite number'),
  refused('NaN in data', `params: {a: .NaN}\n${STEPS}`, '.NaN is not a finite number'),
  refused(
    'a minus infinity in a body',
    'steps: [{http: {url: "http://a", body: -.inf}}]',
    '-.inf is not a finite number',
  ),
  refused('2^53 + 1 as a variable', `env: {A: 9007199254740993}\n${STEPS}`, 'is beyond what numbers can tell apart'),
  refused('2^53 + 1 as an argument', 'steps: [{run: [x, 9007199254740993]}]', 'is beyond what numbers can tell apart'),
  refused(
    '2^53 + 1 of a budget',
    `budgets: {a: {type: count, total: 9007199254740993}}\n${STEPS}`,
    'beyond what numbers',
  ),
  refused('NaN of a budget', `budgets: {a: {type: count, total: .nan}}\n${STEPS}`, 'NaN is not a whole number'),
  refused('a number that changes when it is text', 'steps: [{run: [x, 1.10]}]', '1.10 would become 1.1'),
  refused('a hexadecimal argument', 'steps: [{run: [x, 0x1F]}]', '0x1F would become 31'),
  refused('an octal mode', 'steps: [{write_file: {path: a, content: b, mode: 0644}}]', '644 is not a mode in quotes'),
  refused('a duration of more than a year', 'steps: [{shell: x, timeout: 366d}]', 'is not a duration from 0ms to 365d'),
  refused('a duration of a thousand digits', `steps: [{shell: x, timeout: ${'9'.repeat(1000)}s}]`, 'is not a duration'),
]

const TEXTS: readonly HostileSample[] = [
  refused('a NUL character', `${STEPS}# \0`, 'holds the control character U+0000'),
  refused('an escape sequence', `${STEPS}# \u001b[2J`, 'holds the control character U+001B'),
  refused('a NUL that is written as an escape', 'steps: [{shell: "a\\0b"}]', 'holds a NUL character'),
  refused('a tag of binary data', 'a: !!binary aGk=\n', 'unresolved tag'),
  refused('a tag of a function', 'a: !!js/function "function () {}"\n', 'unresolved tag'),
  refused('a tag of one’s own', `${STEPS}a: !gadget {x: 1}\n`, 'unresolved tag'),
  refused('a set', 'a: !!set {x, y}\n', 'unresolved tag'),
  refused('an older YAML', `%YAML 1.1\n---\n${STEPS}`, 'YAML 1.1 is not read'),
  fine('the version that it is', `%YAML 1.2\n---\n${STEPS}`),
  fine('a byte order mark', `\ufeff${STEPS}`),
  fine('lines that end as on Windows', STEPS.replaceAll('\n', '\r\n')),
  refused('lines that end as they once did on a Mac', 'steps:\r- shell: x\r', 'carriage return alone'),
  refused('a time', 'a: !!timestamp 2001-01-01\n', 'unresolved tag'),
  refused('a map with order', 'a: !!omap [x: 1]\n', 'unresolved tag'),
  fine('a tag of text', 'steps: [{run: [x, !!str 1.10]}]'),
  refused('tabs that indent', 'steps:\n\t- shell: x\n', 'a tab stands in the indentation'),
  fine('tabs in JSON', '{\n\t"steps": [\n\t\t{ "shell": "x" }\n\t]\n}\n'),
  refused('two documents', `${STEPS}---\n${STEPS}`, 'holds more than one document'),
  fine('one document with its marks', `---\n${STEPS}...\n`),
  refused('a key that is a list', '? [a]\n: b\n', 'all keys must be strings'),
  refused('a key that stands twice', `${STEPS}${STEPS}`, 'is given twice'),
  refused('nothing', '', 'is empty'),
  refused('a comment', '# nothing\n', 'is empty'),
  refused('a word', 'hello', '"hello" is not a map'),
  refused('a list', '- shell: x\n', 'a list is not a map'),
  refused('a number', '42', '42 is not a map'),
  refused('a bracket that is left open', 'steps: [{shell: x}', 'a `[` is not closed'),
  fine('half of a character', 'steps: [{shell: "\\uD800"}]'),
  fine('characters that are not letters', 'steps: [{name: "\u2028\u202e😀", shell: x}]'),
  refused('an id that leaves its directory', 'steps: [{id: ../../etc/passwd, shell: x}]', 'is not an id'),
]

export const HOSTILE_SAMPLES: readonly HostileSample[] = [...SIZE, ...ALIASES, ...PROTOTYPES, ...NUMBERS, ...TEXTS]
