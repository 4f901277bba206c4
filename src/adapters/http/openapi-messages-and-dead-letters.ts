import { deadLetterOutcomes } from '../../core/delivery/dead-letter-filter.ts'
import { deadLetterReasons } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import { timelineStates, unknownCauses } from '../../core/operator/destination-timeline.ts'
import { pageLimits } from '../../core/operator/query-parameters-and-object-page.ts'
import { noReplayRequestReasons } from '../../core/operator/replay-preview-of-dead-letter.ts'
import { deadLetterPath, deadLettersPath, messagePath } from './api-paths-and-methods.ts'
import { count, list, type Schema, text, time } from './openapi-basic-schemas.ts'
import { inQuery, operation } from './openapi-operation-and-error-codes.ts'
import { previewOr, requestPreview } from './openapi-request-preview-schemas.ts'
import { inPath, templateOf } from './openapi-responses-and-references.ts'

/* The paths and JSON bodies for messages and dead letters, as OpenAPI 3.1. */

const partial = {
  const: true,
  description: 'Present when the search reached its limit of time or records, so the result may be incomplete.',
} as const
/** An object. Properties that are not in `required` may be absent. */
const open = (properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema => ({
  type: 'object',
  required,
  properties,
})

const place = { topic: text, partition: count, offset: count }
const attempt = {
  at: time,
  number: { type: 'integer', minimum: 1, description: '1 for the first attempt.' },
  outcome: { ...text, description: 'The outcome of the request; `not_sent` if the attempt sent no request.' },
  status: { type: 'integer', description: 'The HTTP status of the response.' },
  durationMs: { type: 'number', description: 'Duration of the attempt in milliseconds.' },
  decision: text,
  reason: text,
  webhook: {
    ...text,
    description: 'The id of the webhook. If the webhook has no id: its position in `webhooks` (from 0).',
  },
  dueAt: { ...time, description: 'When the next attempt is due. ISO 8601, UTC.' },
}
const ofAttempts = ['at', 'number', 'outcome', 'durationMs', 'decision']

const destination = open(
  {
    id: text,
    state: { enum: timelineStates },
    reason: {
      ...text,
      description: `Why the delivery waits, was dead-lettered or was dropped. If the state is \`unknown\`, one of: ${unknownCauses.join(', ')}.`,
    },
    inferred: {
      const: true,
      description:
        'Present when Hookline found no record of the outcome and only assumes the state, which may be wrong. Hookline assumes `dropped` if the current configuration drops the event, and `delivered` if Hookline has processed the event and no failure is recorded.',
    },
    attempts: { ...list(open(attempt, ofAttempts)), description: 'Oldest first.' },
    waiting: open({ tier: text, dueAt: time }, ['tier', 'dueAt']),
    deadLetterKey: text,
  },
  ['id', 'state', 'attempts'],
)

const deadLetter = {
  key: text,
  at: time,
  destination: {
    ...text,
    description:
      'The id of the destination; `-` if Hookline dead-lettered the event before it selected destinations, or if the dead letter is a record of the topic `<prefix>.audience-input` that Hookline could not decode.',
  },
  reason: text,
  outcome: { ...text, description: 'The first of `outcomes`.' },
  outcomes: {
    ...list(text),
    description: 'The last outcome of each webhook. For an invalid event, the code of the rule that it breaks.',
  },
  messageId: text,
  sourceId: text,
  type: text,
  attempts: count,
  round: {
    ...count,
    description: 'Number of replays of the delivery, plus 1 if a resend created the delivery.',
  },
  position: { ...open(place, Object.keys(place)), description: 'Topic, partition and offset of the event.' },
}
const ofDeadLetters = ['key', 'at', 'destination', 'reason', 'outcomes', 'round']

/** The JSON bodies for messages and dead letters. */
export const messageAndDeadLetterSchemas: Readonly<Record<string, Schema>> = {
  MessageTimeline: open(
    {
      id: text,
      partial,
      searchedSince: { ...time, description: 'The search covers all records after this time. ISO 8601, UTC.' },
      event: open(
        { sourceId: text, type: text, event: text, receivedAt: time, position: open(place, Object.keys(place)) },
        ['sourceId', 'type', 'receivedAt', 'position'],
      ),
      eventRemoved: { const: true, description: "Present if Kafka's retention has removed the event." },
      records: list(
        open({ ...place, at: time, kind: { enum: ['event', 'waiting', 'dead_letter'] }, destination: text }, [
          ...Object.keys(place),
          ...['at', 'kind'],
        ]),
      ),
      destinations: list(destination),
    },
    ['id', 'searchedSince', 'records', 'destinations'],
  ),
  DeadLetterPage: open(
    {
      deadLetters: { ...list(open(deadLetter, ofDeadLetters)), maxItems: pageLimits.max },
      next: { ...text, description: 'The value of `after` for the next page. Absent on the last page.' },
      partial,
    },
    ['deadLetters'],
  ),
  DeadLetter: open(
    {
      ...deadLetter,
      startedAt: time,
      deadline: time,
      originalLength: {
        ...count,
        description:
          'Length of the whole event in bytes. Present if the dead letter has only the first 64 KiB of the event.',
      },
      headers: {
        type: 'object',
        additionalProperties: text,
        description: 'The headers of the Kafka record. Shown only to a key with the role `operate`.',
      },
      body: { type: 'object', description: 'The event. Shown only to a key with the role `operate`.' },
      bodyBase64: {
        ...text,
        description: 'The bytes of an undecodable event. Shown only to a key with the role `operate`.',
      },
      replay: {
        ...previewOr(noReplayRequestReasons),
        description:
          'The requests that a replay of the dead letter would send now, or why there are none. Shown only to a key with the role `operate`.',
      },
    },
    ofDeadLetters,
  ),
  RequestPreview: requestPreview,
  FailedAttempt: open({ messageId: text, sourceId: text, type: text, ...attempt }, [
    ...['messageId', 'sourceId', 'type'],
    ...ofAttempts,
  ]),
}

const timeRange = (what: string) => [
  inQuery('since', text, `Start of the time range in which ${what}: ISO 8601, or a duration before now such as 2h.`),
  inQuery('until', text, `End of the time range in which ${what}: ISO 8601, or a duration before now such as 1h.`),
]

export const messageAndDeadLetterPaths: Readonly<Record<string, object>> = {
  [templateOf(messagePath)]: {
    get: operation({
      ...{ id: 'getMessage', summary: 'Show what happened to a message', answer: 'MessageTimeline' },
      description:
        'Hookline searches the messages that it received between `since` and `until`. By default, `until` is the current time and `since` is 24 hours before `until`. If the message is not found, `records` and `destinations` are empty.',
      parameters: [inPath('id'), ...timeRange('Hookline received the message')],
      codes: ['invalid_query', 'unavailable'],
    }),
  },
  [deadLettersPath]: {
    get: operation({
      ...{ id: 'listDeadLetters', summary: 'List dead letters, newest first', answer: 'DeadLetterPage' },
      parameters: [
        inQuery(
          'destination',
          text,
          'Only dead letters of this destination. `-` selects dead letters without a destination: events that Hookline dead-lettered before it selected destinations, and records of the topic `<prefix>.audience-input` that Hookline could not decode.',
        ),
        inQuery('reason', { enum: deadLetterReasons }, 'Only dead letters with this reason.'),
        inQuery(
          'outcome',
          { enum: deadLetterOutcomes },
          'Only dead letters in which the last request to at least one webhook had this outcome. If the reason is `invalid_message`, the outcome is the code of the rule that the event breaks.',
        ),
        ...timeRange('the deliveries were dead-lettered'),
        inQuery('message', text, 'Only dead letters of the message with this id.'),
        inQuery('after', text, 'The value of `next` in the previous page.'),
        inQuery(
          'limit',
          { type: 'integer', minimum: 1, maximum: pageLimits.max, default: pageLimits.default },
          'Maximum number of entries on the page.',
        ),
      ],
      codes: ['invalid_query', 'unavailable'],
    }),
  },
  [templateOf(deadLetterPath)]: {
    get: operation({
      ...{ id: 'getDeadLetter', summary: 'Show a dead letter', answer: 'DeadLetter' },
      description:
        'The fields `headers`, `body`, `bodyBase64` and `replay` are absent if the operator key has the role `read`.',
      ...{ parameters: [inPath('key')], codes: ['invalid_query', 'not_found', 'unavailable'] },
    }),
  },
}
