import { type CallType, callTypes } from '../../core/message/message.ts'
import { rejectionCodes } from '../../core/message/message-rejection.ts'

/*
 * Requests and responses of the tracking API as JSON Schema (draft 2020-12, as in OpenAPI 3.1).
 * Requests may have properties that the schema does not list. Responses have only listed ones.
 */

const id = (description: string) => ({
  type: ['string', 'number', 'null'],
  description: `${description} Hookline converts a number to text (17 becomes "17"). null and "" mean that the id is absent.`,
})
const object = (description: string) => ({ type: ['object', 'null'], description })
const text = (description: string) => ({ type: ['string', 'null'], description })
const time = (description: string) => ({
  type: ['string', 'number', 'null'],
  description: `${description} ISO 8601 (UTC if it has no offset), or a Unix time as a number: 10^11 and more are milliseconds, smaller numbers are seconds.`,
})

const messageFields = {
  messageId: id(
    'Use the same id when you send a message again, so that receivers can drop duplicates. Default: a new id.',
  ),
  userId: id('The user that the message is about.'),
  anonymousId: id('The visitor that the message is about, if the user is not known.'),
  timestamp: time(
    'When the event happened. If absent: `originalTimestamp`. If that is absent too: the time when Hookline receives the message.',
  ),
  originalTimestamp: time('The time of the event. Used only if the message has no `timestamp`.'),
  sentAt: time(
    "Time on the client's clock when the client sent the message. Hookline uses it to correct the skew of this clock.",
  ),
  context: object('Device, app, page and other context. Its keys override those in the context of the batch.'),
  integrations: object(
    'Webhooks do not receive the message if `Webhooks` is false, or if `Webhooks` is absent and `All` is false.',
  ),
  event: text('In a track message: the name of the event.'),
  name: text('In a page or screen message: the name of the page or screen.'),
  category: text('In a page or screen message: the category of the page or screen.'),
  properties: object('In a track, page or screen message: the properties of the event, page or screen.'),
  traits: object('In an identify or group message: the traits of the user or group.'),
  groupId: id('In a group message: the id of the group.'),
  previousId: id('In an alias message: the previous id of the user.'),
}

const eitherId = { anyOf: [{ required: ['userId'] }, { required: ['anonymousId'] }] }
const call = (types: readonly CallType[], needs: object) => ({ properties: { type: { enum: types } }, ...needs })

export const schemas = {
  Message: {
    type: 'object',
    description: 'At most 32,768 bytes of compact JSON. The required fields depend on the type.',
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
      writeKey: { type: 'string', description: 'The write key, for a request without a write key in its headers.' },
      sentAt: time(
        'When the batch was sent, by the clock of the client. Messages without their own `sentAt` get this time.',
      ),
      context: object('Context that Hookline merges into the context of each message.'),
      integrations: object('Integrations that Hookline merges into the integrations of each message.'),
    },
  },
  Call: {
    type: 'object',
    description: 'One message. The path gives its type, for example `/v1/track`. A `type` in the message is ignored.',
    properties: {
      writeKey: { type: 'string', description: 'The write key, for a request without a write key in its headers.' },
      ...messageFields,
    },
  },
  Accepted: {
    type: 'object',
    description:
      'All messages are stored, except those in `rejected` and those of users that were deleted with `suppress: true`.',
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
        index: { type: 'integer', minimum: 0, description: 'Position of the message in the batch, counted from 0.' },
        messageId: { type: 'string', description: 'The id of the message, if it has one.' },
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
      code: { type: 'string', description: 'Identifies the error, for programs. Codes are stable.' },
      message: { type: 'string', description: 'Text for people: what happened, and what to do.' },
      error: { type: 'string', description: 'The same text as `message`, because some SDKs read this field.' },
      rejected: {
        $ref: '#/components/schemas/Rejected',
        description: 'The rejected messages. Present only if the request has the header `X-Strict-Mode: 1`.',
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
