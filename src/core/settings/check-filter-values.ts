import type { Objection } from '../invalid-value-message-and-hint.ts'
import type { Rule } from './configuration-rule.ts'
import type { conditionOps } from './schema-of-event-filter.ts'
import type { SettingsProblem } from './settings-problem.ts'

type Op = (typeof conditionOps)[number]

/**
 * Checks that each condition in `filter.where` has a value of a type that its operator can compare.
 */
export const comparableValues: Rule = config =>
  (config.destinations ?? []).flatMap((destination, index) =>
    (destination?.filter?.where ?? []).flatMap((condition, position): readonly SettingsProblem[] => {
      const { op, value } = condition ?? {}
      const objection = op === undefined || value === undefined ? undefined : refuseValue(op, value)
      const path = ['destinations', index, 'filter', 'where', position, 'value']
      return objection === undefined ? [] : [{ path, ...objection }]
    }),
  )

function refuseValue(op: Op, value: unknown): Objection | undefined {
  const isList = Array.isArray(value)
  switch (op) {
    case 'eq':
    case 'ne':
      return isList
        ? {
            message: `must be a single value for the operator "${op}", not a list`,
            hint:
              op === 'eq'
                ? 'use the operator "in" for a list'
                : 'write one condition with the operator "ne" for each value',
          }
        : undefined
    case 'in':
      return isList
        ? undefined
        : { message: 'must be a list for the operator "in"', hint: 'use the operator "eq" for a single value' }
    case 'exists':
      return typeof value === 'boolean'
        ? undefined
        : {
            message: 'must be true or false for the operator "exists"',
            hint: 'true: the message has a value at this path; false: it has none',
          }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number'
        ? undefined
        : {
            message: `must be a number for the operator "${op}"`,
            hint: 'write the number without quotes; an environment variable cannot be used here, because its value is always text',
          }
    case 'prefix':
      return typeof value === 'string' && value !== ''
        ? undefined
        : {
            message: 'must be text of at least one character for the operator "prefix"',
            hint: 'if the value is a number, put it in quotes',
          }
  }
}
