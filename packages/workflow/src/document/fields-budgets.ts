/** The budgets that a document can declare. Imports the shapes and the types of budgets. */
import { BUDGET_TYPES, kindOf } from './budget-types.js'
import { GATE_NAME } from './names.js'
import { type EitherShape, field, type FieldsShape, named, words } from './shape.js'
import { snakeCase } from './spelling.js'

function budgetFields(type: (typeof BUDGET_TYPES)[number]): FieldsShape {
  const { options, required } = kindOf(type)
  return {
    kind: 'fields',
    title: `budget of type ${type}`,
    example: `{type: ${type}}`,
    isCamelToo: true,
    checkedBy: 'library',
    fields: [
      field('type', words(type), 'Which budget it is.', { isRequired: true }),
      ...options.map((option) => ({
        ...option,
        name: snakeCase(option.name),
        isRequired: required.includes(option.name),
      })),
    ],
  }
}

/** Checked by `budget-section`. */
const BUDGET_SHAPE: EitherShape = { kind: 'either', of: BUDGET_TYPES.map(budgetFields), checkedBy: 'budget' }

export const BUDGETS = named(GATE_NAME, BUDGET_SHAPE, '{api: {type: adaptive}}')
