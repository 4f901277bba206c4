import { mostUsers } from '../../core/deletion/deletion-request.ts'
import { type CallType, callTypes, rejectionCodes } from '../../core/message/message.ts'

/*
 * What the tracking API takes and gives, as JSON Schema (draft 2020-12, as OpenAPI 3.1 has it). Open where senders are free,
 * closed where we answer.
 */

const id = (description: string) => ({
  type: ['string', 'number', 'null'],
  description: `${description} A number means its digits; null and "" are as if absent.`,
})
const object = (description: string) => ({ type: ['object', 'null'], description })
const text = (description: string) => ({ type: ['string', 'null'], description })
const time = (description: string) => ({
  type: ['string', 'number', 'null'],
  description: `${description} ISO 8601 (without an offset: UTC), or a number: milliseconds from 10^11 on, else seconds.`,
})

const messageFields = {
  messageId: id('The same for every try, so that receivers drop what comes twice. Absent: a new one.'),
  userId: id('Whom the message is about.'),
  anonymousId: id('Whom it is about while the user is not known.'),
  timestamp: time('When it happened. Absent: now.'),
  originalTimestamp: time('Counts where `timestamp` is absent.'),
  sentAt: time("When it was sent, by its sender's clock: tells how wrong that clock is."),
  context: object('Circumstances: device, app, page. Wins over the context of the batch, key by key.'),
  integrations: object('Which destinations may have the message; `All` for the others.'),
  event: text('Track: what happened.'),
  name: text('Page, screen.'),
  category: text('Page, screen.'),
  properties: object('Track, page, screen.'),
  traits: object('Identify, group.'),
  groupId: id('Group.'),
  previousId: id('Alias: the id until now.'),
}

const eitherId = { anyOf: [{ required: ['userId'] }, { required: ['anonymousId'] }] }
const call = (types: readonly CallType[], needs: object) => ({ properties: { type: { enum: types } }, ...needs })

export const schemas = {
  Message: {
    type: 'object',
    description: 'At most 32,768 bytes of compact JSON. What a call needs is the same as in every SDK.',
    required: ['type'],
    properties: { type: { enum: callTypes }, ...messageFields },
    oneOf: [
      call(['identify', 'page', 'screen'], eitherId),
      call(['track'], { required: ['event'], ...eitherId }),
      call(['group'], { required: ['groupId'], ...eitherId }),
      call(['alias'], { required: ['userId', 'previousId'] }),
    ],
  },
  Batch: {
    type: 'object',
    required: ['batch'],
    properties: {
      batch: { type: 'array', items: { $ref: '#/components/schemas/Message' }, maxItems: 2_500 },
      writeKey: { type: 'string', description: 'Counts when no header has one.' },
      sentAt: time('For messages that have none.'),
      context: object('Merged into each message.'),
      integrations: object('Merged into each message.'),
    },
  },
  Call: {
    type: 'object',
    description: 'One message. Its type is that of the path, whatever the message says.',
    properties: { writeKey: { type: 'string', description: 'Counts when no header has one.' }, ...messageFields },
  },
  Accepted: {
    type: 'object',
    description: 'Every message is stored, but for those that are listed.',
    required: ['success'],
    properties: { success: { const: true }, rejected: { $ref: '#/components/schemas/Rejected' } },
    additionalProperties: false,
  },
  Rejected: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      required: ['index', 'code', 'message'],
      properties: {
        index: { type: 'integer', minimum: 0, description: 'Position in the batch.' },
        messageId: { type: 'string', description: "The message's own, where it has one." },
        code: { enum: rejectionCodes },
        message: { type: 'string', description: 'Which field is wrong and what to do.' },
      },
      additionalProperties: false,
    },
  },
  Problem: {
    type: 'object',
    required: ['success', 'code', 'message', 'error'],
    properties: {
      success: { const: false },
      code: { type: 'string', description: 'For programs; stays the same.' },
      message: { type: 'string', description: 'For people: what to do.' },
      error: { type: 'string', description: 'The message again, for SDKs that look for it here.' },
      rejected: {
        $ref: '#/components/schemas/Rejected',
        description: 'Strict mode: what is wrong with which message.',
      },
    },
    additionalProperties: false,
  },
  Settings: {
    type: 'object',
    required: ['integrations'],
    properties: {
      integrations: {
        type: 'object',
        required: ['Segment.io'],
        properties: {
          'Segment.io': { type: 'object', required: ['apiKey'], properties: { apiKey: { type: 'string' } } },
        },
      },
    },
  },
} as const

const state = {
  enum: ['running', 'finished', 'failed'],
  description: 'Running: something waits. Failed: nothing does, but something was not delivered.',
}
const count = { type: 'integer', minimum: 0, description: 'Users.' }

export const operatorSchemas = {
  DeletionRequest: {
    type: 'object',
    required: ['userIds'],
    properties: {
      userIds: {
        type: 'array',
        items: { type: ['string', 'integer'], minLength: 1 },
        minItems: 1,
        maxItems: mostUsers,
        description: 'A number means its digits.',
      },
      sources: {
        type: ['array', 'null'],
        items: { type: 'string' },
        minItems: 1,
        description: 'Ids of the affected sources. Absent: every source with an enabled destination.',
      },
      suppress: { type: 'boolean', default: false, description: 'Take nothing of these users from now on.' },
    },
    additionalProperties: false,
  },
  DeletionAccepted: {
    type: 'object',
    required: ['id', 'status'],
    properties: { id: { type: 'string' }, status: state },
    additionalProperties: false,
  },
  Deletion: {
    type: 'object',
    required: ['id', 'status', 'createdAt', 'sources'],
    properties: {
      id: { type: 'string' },
      status: state,
      createdAt: { type: 'string', description: 'ISO 8601, UTC.' },
      partial: {
        const: true,
        description: 'Only so much of the topic was read: more deliveries may have ended than the counts say.',
      },
      sources: {
        type: 'array',
        items: {
          type: 'object',
          required: ['id', 'destinations'],
          properties: {
            id: { type: 'string' },
            destinations: {
              type: 'array',
              items: {
                type: 'object',
                required: ['id', 'status', 'delivered', 'undelivered', 'waiting'],
                properties: {
                  id: { type: 'string' },
                  status: state,
                  delivered: count,
                  undelivered: count,
                  waiting: count,
                },
                additionalProperties: false,
              },
            },
          },
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
  },
  SyncTaken: {
    type: 'object',
    required: ['syncId', 'received'],
    properties: {
      syncId: { type: 'integer', description: 'Later syncs have larger ones.' },
      received: { type: 'integer', minimum: 0, description: 'Lines that named somebody.' },
    },
    additionalProperties: false,
  },
} as const
