import type { Json } from 'reprise/durable'
import { expect, test } from 'vitest'
import type { Plan } from '../plan/plan.js'
import { OperationError } from './operation-error.js'
import { readParams } from './params.js'

const read = (
  declared: Readonly<Record<string, Json>>,
  ...given: readonly (readonly [string, string])[]
): Record<string, Json> => readParams(given, { params: declared } as unknown as Plan)

test('a text is read as what the default is', () => {
  const declared = { name: null, city: 'Bern', count: 3, isDry: false, list: [1] }
  expect(read(declared, ['name', '7'], ['city', 'x=y'], ['count', '7'], ['isDry', 'true'], ['list', '[2,3]'])).toEqual({
    name: '7',
    city: 'x=y',
    count: 7,
    isDry: true,
    list: [2, 3],
  })
  expect(read({ city: 'Bern' })).toEqual({})
})

test.each([
  [{ a: null, b: null }, [], { code: 'missing_params', names: ['a', 'b'] }, 'the workflow needs a, b', undefined],
  [{ city: '' }, [['cty', '1']], { code: 'unknown_param' }, 'the workflow has no parameter cty', 'did you mean city?'],
  [
    {},
    [['toString', '1']],
    { code: 'unknown_param' },
    'the workflow has no parameter toString',
    'it declares none under `params:`',
  ],
  [
    { count: 3 },
    [['count', 'many']],
    { code: 'wrong_param', name: 'count', text: 'many' },
    'count=many is no number',
    'the default is 3',
  ],
] as const)('%j given %j is refused with %j', (declared, given, problem, message, suggestion) => {
  const error = new OperationError('invalid', problem, message, suggestion)
  expect(() => read(declared, ...given)).toThrow(error)
  try {
    read(declared, ...given)
  } catch (thrown) {
    expect(thrown).toMatchObject({ kind: 'invalid', problem, suggestion })
  }
})
