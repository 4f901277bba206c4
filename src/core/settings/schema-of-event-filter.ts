import { z } from 'zod'
import { callTypes } from '../message/message.ts'
import { oneOf, withMessage } from './value-types.ts'

/** The free-form parts of a message. The `path` of a condition can select a value in them. */
export const pathParts = ['properties', 'traits', 'context'] as const
/** The fields of a message that the `path` of a condition can select. */
export const pathFields = [
  'type',
  'userId',
  'anonymousId',
  'groupId',
  'previousId',
  'event',
  'name',
  'timestamp',
] as const

export const conditionOps = ['eq', 'ne', 'in', 'exists', 'gt', 'gte', 'lt', 'lte', 'prefix'] as const

/* These limits keep the CPU time of one destination's filter for one event below about 1 ms. */
const maxPatterns = 50
const maxTextLength = 200
const maxConditions = 20
/** Maximum number of values of the operator `in`. */
const maxValues = 100

const tooLong = `must have at most ${maxTextLength} characters`
const patterns = z.array(z.string().min(1).max(maxTextLength, tooLong)).min(1).max(maxPatterns)

const pathPattern = new RegExp(`^(?:${pathFields.join('|')}|(?:${pathParts.join('|')})(?:\\.[^.]+)+)$`, 'u')
const pathText = `must be one of ${pathFields.join(', ')}, or begin with ${pathParts.map(part => `"${part}."`).join(' or ')}`
const path = z
  .string()
  .max(maxTextLength, tooLong)
  .regex(pathPattern, pathText)
  .describe(
    `Path of a value in the request body: ${pathFields.map(field => `\`${field}\``).join(', ')}, or a path that begins with \`properties.\`, \`traits.\` or \`context.\`, such as \`properties.total\`. A path cannot select an element of a list.`,
  )

const scalar = z.union([z.string().max(maxTextLength, tooLong), z.number(), z.boolean()])
const valueText = `must be text, a number, true or false, or a list of 1 to ${maxValues} of these values`

const condition = z.strictObject({
  path,
  op: oneOf(conditionOps).describe(
    'How Hookline compares the value in the message with `value`. `eq`: equal. `ne`: not equal. `in`: equal to an entry of the list `value`. `exists`: with `value: true`, the path has a value; with `value: false`, it has none. `gt`, `gte`, `lt`, `lte`: comparison of numbers. `prefix`: text that begins with `value`.',
  ),
  value: z
    .union([scalar, z.array(scalar).min(1).max(maxValues)], withMessage(valueText))
    .describe(
      'Value with which Hookline compares the value in the message. Types are not converted: the number 5 and the text "5" are different.',
    ),
})

const percentText = 'must be a number greater than 0 and at most 100'

/** The key `filter` of a destination: which events of its sources it gets. */
export const filter = z
  .strictObject({
    types: z
      .array(oneOf(callTypes))
      .min(1)
      .optional()
      .describe('Types of the messages that pass the filter. Absent: messages of all types pass.'),
    events: z
      .strictObject({
        include: patterns
          .optional()
          .describe(
            'A track message passes only if its event name matches one of these patterns. Absent: track messages with any event name pass.',
          ),
        exclude: patterns
          .optional()
          .describe('A track message does not pass if its event name matches one of these patterns.'),
      })
      .optional()
      .describe(
        'Patterns for the event names of track messages. The patterns do not apply to messages of other types. `*` matches any text, including empty text. Upper and lower case differ. Only the first 1,000 characters of a name are compared.',
      ),
    where: z
      .array(condition)
      .min(1)
      .max(maxConditions)
      .optional()
      .describe(
        'Conditions on the values of a message of any type. A message passes if all conditions are true. If a message has no value at the path, a condition with `ne` is true, a condition with `exists` and `value: false` is true, and all others are false.',
      ),
    sample: z
      .strictObject({
        percent: z
          .number(withMessage(percentText))
          .gt(0, percentText)
          .max(100, percentText)
          .describe('Only messages of this percentage of users pass. For example, 0.5 means 0.5 %.'),
        by: oneOf(['user']).default('user').describe('`user`: for each user, either all messages pass, or none.'),
      })
      .optional()
      .describe(
        'Only the messages of some users pass. Every process selects the same users, also after a restart. The selection differs between destinations, even with the same `percent`.',
      ),
  })
  .optional()
  .describe(
    'Rules for the events of this destination. The destination gets an event only if the event passes every rule; Hookline drops the other events with the reason `filtered`. Delete messages, audience changes, canary messages and notices always pass.',
  )

export type FilterSettings = NonNullable<z.output<typeof filter>>
