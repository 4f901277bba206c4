import { attemptDecisions } from '../../../src/core/delivery/attempt-facts.ts'
import { deadLetterReasons, deferralCauses, dropReasons, outcomes } from '../../../src/core/delivery/outcome.ts'
import { messageTypes, rejectionCodes } from '../../../src/core/message/message.ts'

/** JSON Schemas of the values that are JSON. */

const text = (description: string): object => ({ type: 'string', description })
const integer = (description: string): object => ({ type: 'integer', description })
const milliseconds = (what: string): object => integer(`${what}, in milliseconds since 1970.`)

/** As `rejectedRecord` writes it. */
export const rejectedValue = {
  type: 'object',
  required: ['source', 'code', 'message', 'index', 'receivedAt', 'text'],
  additionalProperties: false,
  properties: {
    source: text('The source that sent it.'),
    code: { type: 'string', enum: [...rejectionCodes], description: 'Why it is not taken.' },
    message: text('The same in words; its sender was told so in the answer to its request.'),
    index: integer('Its position in the batch.'),
    messageId: text('As its sender gave it; left out when it gave none.'),
    receivedAt: milliseconds('When the request came in'),
    text: text('The message as it came, its first 32,768 bytes.'),
  },
}

/** As `encodeSuppressions` writes it. */
export const suppressionsValue = {
  type: 'object',
  required: ['marks'],
  additionalProperties: false,
  properties: {
    marks: {
      type: 'array',
      description: 'At most one for each source, and one for all of them.',
      items: {
        type: 'object',
        required: ['deletedAt', 'suppressed'],
        additionalProperties: false,
        properties: {
          source: text('The source whose events it stops; left out: every source.'),
          deletedAt: milliseconds(
            'Events received up to then are not delivered any more: when the deletion was accepted',
          ),
          suppressed: { type: 'boolean', description: 'Nor is anything that is received later.' },
        },
      },
    },
  },
}

/** As `encodeDeletion` writes it. */
export const deletionValue = {
  type: 'object',
  required: ['createdAt', 'users', 'suppressed', 'sources'],
  additionalProperties: false,
  properties: {
    createdAt: milliseconds('When it was accepted'),
    users: integer('How many users it names.'),
    suppressed: { type: 'boolean', description: 'Whether nothing is taken of them from then on.' },
    sources: {
      type: 'array',
      description: 'The affected sources, each with its destinations that are told.',
      items: {
        type: 'object',
        required: ['id', 'destinations'],
        additionalProperties: false,
        properties: { id: text('Of the source.'), destinations: { type: 'array', items: { type: 'string' } } },
      },
    },
  },
}

/** As `encodeDeletionOutcome` writes it. */
export const deletionOutcomeValue = {
  type: 'object',
  required: ['result'],
  additionalProperties: false,
  properties: {
    result: { type: 'string', enum: ['delivered', 'undelivered'] },
    reason: {
      type: 'string',
      enum: [...deadLetterReasons, ...dropReasons],
      description: 'Why it was not delivered.',
    },
  },
}

/** As `encodeAttempt` writes it. */
export const attemptValue = {
  type: 'object',
  required: ['at', 'decision', 'destination', 'source', 'messageId', 'type', 'attempt', 'outcomes', 'elapsedMs'],
  additionalProperties: false,
  properties: {
    at: { type: 'string', format: 'date-time', description: 'When it began.' },
    decision: { type: 'string', enum: [...attemptDecisions], description: 'What became of the delivery.' },
    reason: {
      type: 'string',
      enum: [...new Set([...outcomes, ...deadLetterReasons, ...deferralCauses])],
      description: 'Why it was not delivered.',
    },
    nextAttemptInMs: integer('Milliseconds from its end to the next one at the earliest.'),
    destination: text('The destination.'),
    source: text('The source that sent the message.'),
    messageId: text('The message.'),
    traceId: text('The trace of its first attempt, where there is one.'),
    type: { type: 'string', enum: [...messageTypes], description: 'Its type.' },
    attempt: integer('1 for the first.'),
    outcomes: {
      type: 'object',
      description: 'How each call ended, by the id or position of its webhook.',
      additionalProperties: { type: 'string', enum: [...outcomes] },
    },
    elapsedMs: integer('Milliseconds.'),
  },
}
