import { z } from 'zod'
import { attemptDecisions } from '../../../src/core/delivery/attempt-facts-and-record.ts'
import {
  deadLetterReasons,
  deferralCauses,
  dropReasons,
  outcomes,
} from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { jobDocument } from '../../../src/core/jobs/job.ts'
import { messageTypes } from '../../../src/core/message/message.ts'
import { rejectionCodes } from '../../../src/core/message/message-rejection.ts'

/** JSON Schemas of the record values that are JSON. */

const text = (description: string): object => ({ type: 'string', description })
const integer = (description: string): object => ({ type: 'integer', description })
const milliseconds = (what: string): object => integer(`${what}, in milliseconds since 1970.`)

/** The value of a rejected message, as `rejectedRecord` writes it. */
export const rejectedValue = {
  type: 'object',
  required: ['source', 'code', 'message', 'index', 'receivedAt'],
  additionalProperties: false,
  properties: {
    source: text('The source of the message.'),
    code: { type: 'string', enum: [...rejectionCodes], description: 'Why the message was rejected.' },
    message: text('The reason as text, as in the response to the sender.'),
    index: integer('Index in the batch.'),
    messageId: text('The message id from the sender. Absent when there is none.'),
    receivedAt: milliseconds('When the request was received'),
    text: text(
      'The first 32,768 bytes of the message as received, with `***` in place of write keys. Absent if the text may contain data of a suppressed user.',
    ),
  },
}

/** The suppressions of a user, as `encodeSuppressions` writes them. */
export const suppressionsValue = {
  type: 'object',
  required: ['marks'],
  additionalProperties: false,
  properties: {
    marks: {
      type: 'array',
      description: 'Suppressions: at most one for each source, and one for all sources.',
      items: {
        type: 'object',
        required: ['deletedAt', 'suppressed'],
        additionalProperties: false,
        properties: {
          source: text('The source whose events are suppressed. Absent for all sources.'),
          deletedAt: milliseconds(
            'When the deletion was accepted (Hookline does not deliver events of the user that it received at or before this time)',
          ),
          suppressed: { type: 'boolean', description: 'Whether events received later are suppressed too.' },
        },
      },
    },
  },
}

/** A deletion, as `encodeDeletion` writes it. */
export const deletionValue = {
  type: 'object',
  required: ['createdAt', 'users', 'suppressed', 'sources'],
  additionalProperties: false,
  properties: {
    createdAt: milliseconds('When the deletion was accepted'),
    users: integer('Number of users in the deletion.'),
    suppressed: { type: 'boolean', description: 'Whether events received later are suppressed too.' },
    sources: {
      type: 'array',
      description: 'The affected sources, each with the destinations that receive a delete message.',
      items: {
        type: 'object',
        required: ['id', 'destinations'],
        additionalProperties: false,
        properties: { id: text('Id of the source.'), destinations: { type: 'array', items: { type: 'string' } } },
      },
    },
    parts: integer('Number of records of the deletion. Missing when it has only this one.'),
  },
}

/** The result of a delete message, as `encodeDeletionOutcome` writes it. */
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

/** An attempt, as `encodeAttempt` writes it. */
export const attemptValue = {
  type: 'object',
  required: ['at', 'decision', 'destination', 'source', 'messageId', 'type', 'attempt', 'outcomes', 'elapsedMs'],
  additionalProperties: false,
  properties: {
    at: { type: 'string', format: 'date-time', description: 'Start of the attempt.' },
    decision: {
      type: 'string',
      enum: [...attemptDecisions, 'dropped'],
      description: 'What happens to the delivery after this attempt.',
    },
    reason: {
      type: 'string',
      enum: [...new Set([...outcomes, ...deadLetterReasons, ...deferralCauses, ...dropReasons])],
      description: 'Why it was not delivered.',
    },
    nextAttemptInMs: integer('Minimum time from the end of this attempt to the next one, in milliseconds.'),
    destination: text('Id of the destination.'),
    source: text('Id of the source.'),
    messageId: text('Id of the message.'),
    traceId: text('Id of the trace of the first attempt. Absent without a trace.'),
    type: { type: 'string', enum: [...messageTypes], description: 'Type of the message.' },
    attempt: integer('Number of the attempt, starting at 1.'),
    outcomes: {
      type: 'object',
      description: 'The outcome of each request, by the id or position of its webhook.',
      additionalProperties: { type: 'string', enum: [...outcomes] },
    },
    elapsedMs: integer('Duration of the attempt in milliseconds.'),
    kind: {
      type: 'string',
      enum: ['result'],
      description: '`result`: the delivery ended without an attempt. Absent for an attempt.',
    },
    statuses: {
      type: 'object',
      description: 'The HTTP status of each response, by the id or position of its webhook.',
      additionalProperties: { type: 'integer' },
    },
    dueAt: { type: 'string', format: 'date-time', description: 'When the next attempt is due. Absent without one.' },
    tierMs: integer('How long deliveries wait in the retry topic of this delivery, in milliseconds.'),
    origin: {
      type: 'object',
      description: 'Topic, partition, offset and timestamp of the event.',
      required: ['topic', 'partition', 'offset', 'timestamp'],
      additionalProperties: false,
      properties: {
        topic: text('The events topic.'),
        partition: integer('The partition of the event.'),
        offset: integer('The offset of the event.'),
        timestamp: milliseconds('The timestamp of the record of the event'),
      },
    },
    round: integer(
      'Number of replays of the delivery. It begins at 1 for a resend, and for the replay of an event that Hookline dead-lettered before it selected destinations.',
    ),
  },
}

const number = (description: string): object => ({ type: 'number', description })

/** The status of a process, as `encodeProcess` writes it. */
export const processStatusValue = {
  type: ['object', 'null'],
  required: ['services', 'version', 'startedAt', 'partitions', 'rates'],
  properties: {
    services: { type: 'array', items: { type: 'string' }, description: 'The services that the process runs.' },
    version: text('The version of Hookline.'),
    startedAt: milliseconds('When the process started'),
    partitions: integer('Number of partitions of the events topic that the process owns.'),
    rates: {
      type: 'object',
      description: 'Rates per second, measured over the last 5 seconds.',
      required: ['admitted', 'delivered', 'failed'],
      properties: {
        admitted: number('Deliveries of new events, without retries.'),
        delivered: number('Successful deliveries.'),
        failed: number('Failed attempts.'),
      },
    },
  },
}

/** The activity of destinations in a process, as `encodeActivity` writes it. */
export const activityValue = {
  type: ['object', 'null'],
  description:
    'The destinations by their ids. A destination with none of these values is absent. Values of 0 are absent too.',
  additionalProperties: {
    type: 'object',
    properties: {
      breaker: {
        type: 'string',
        enum: ['open', 'probing'],
        description: 'Absent while the circuit breaker is closed.',
      },
      nextProbeAt: milliseconds('When the process may send the next probe'),
      requestsInProgress: integer('Requests in progress.'),
      inMemory: integer('Deliveries in the destination queue.'),
      pace: number('Attempts per second to which the process now limits the destination, because of a 429.'),
      pausedUntil: milliseconds('End of the pause after a Retry-After from the endpoint'),
    },
  },
}

/** Results of destinations, as `encodeResults` writes them. */
export const resultsValue = {
  type: 'object',
  description: 'The destinations by their ids.',
  additionalProperties: {
    type: 'array',
    description: 'Four numbers: successful deliveries, failed attempts, dead-lettered deliveries, dropped deliveries.',
    items: { type: 'integer' },
    minItems: 4,
    maxItems: 4,
  },
}

/** A destination or a source, as `encodeValue` writes it. */
export const configObjectValue = {
  type: ['object', 'null'],
  required: ['format', 'document'],
  additionalProperties: false,
  properties: {
    format: { type: 'integer', enum: [1], description: 'The version of the format of this value.' },
    document: {
      type: 'object',
      description:
        'An entry of `destinations` or `sources` of the configuration, or the failure state of a destination. Each write key, shared secret, signing key, OAuth 2.0 client secret, TLS client key, webhook URL and header value is a mapping with the one key `sealed`: `<id of the key>.<base64url of nonce, AES-256-GCM ciphertext and tag>`.',
    },
  },
}

const { $schema: _, ...jobSchema } = z.toJSONSchema(jobDocument, { io: 'input' })
/** A replay or a resend, as `encodeJob` writes it. */
export const jobValue = { type: 'object', ...jobSchema }
