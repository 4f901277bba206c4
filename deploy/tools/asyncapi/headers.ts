/** A header of a record: UTF-8 text. Numbers are decimal. */
interface Header {
  readonly description: string
  readonly pattern?: string
  readonly examples: readonly string[]
}

const time = '^-?\\d{1,16}$'
const count = '^\\d{1,16}$'

export const deliveryStateHeaders: Readonly<Record<string, Header>> = {
  destination: { description: 'The destination of the delivery.', examples: ['crm'] },
  attempt: { description: 'Number of attempts that were made so far.', pattern: count, examples: ['2'] },
  deferrals: {
    description: 'Number of deferrals that make the wait of the next deferral longer.',
    pattern: count,
    examples: ['0'],
  },
  'started-at': {
    description:
      'When the dispatcher first admitted the event, or when Hookline replayed or resent it, in milliseconds since 1970. For an event that waited because its source or destination was not known: when this wait ended.',
    pattern: count,
    examples: ['1795248000000'],
  },
  deadline: {
    description: 'The end of the retry window, in milliseconds since 1970.',
    pattern: count,
    examples: ['1795262400000'],
  },
  'not-before': {
    description: 'Earliest time of the next attempt, in milliseconds since 1970.',
    pattern: count,
    examples: ['1795248070000'],
  },
  reason: {
    description: 'Why the delivery waits or was dead-lettered: an outcome, a deferral cause or a dead-letter reason.',
    examples: ['http_5xx'],
  },
  outcomes: {
    description:
      'The last outcome of every webhook that received a request, separated by commas. Their order can differ from the configuration if an attempt did not call all webhooks. If the reason is `invalid_message`: the rejection code.',
    examples: ['http_4xx,http_5xx'],
  },
  'refused-webhooks': {
    description:
      'Webhooks that rejected this delivery and receive no further request for it: the first 8 hex digits of the SHA-256 of each URL, separated by commas. The nth entry belongs to the nth permanent failure in the header `outcomes`.',
    pattern: '^([0-9a-f]{8}(,[0-9a-f]{8})*)?$',
    examples: ['0badcafe'],
  },
  'origin-topic': { description: 'Topic of the original event record.', examples: ['hookline.events'] },
  'origin-partition': { description: 'Partition of the original event record.', pattern: time, examples: ['3'] },
  'origin-offset': { description: 'Offset of the original event record.', pattern: time, examples: ['41'] },
  'origin-timestamp': {
    description: 'Timestamp of the original event record, in milliseconds since 1970; -1 when it has none.',
    pattern: time,
    examples: ['1795248000000'],
  },
  round: {
    description: 'How often the delivery was replayed. A delivery of a resend or of a replayed event starts with 1.',
    pattern: count,
    examples: ['0'],
  },
  'message-id': { description: 'The message id, which receivers use to drop duplicates.', examples: ['m-1'] },
}

/** These headers are present only when attempts are traced. */
const attemptTrace: Readonly<Record<string, Header>> = {
  'first-traceparent': {
    description: 'Trace context of the first attempt (W3C Trace Context), to which later attempts link.',
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  },
}

/** This header is present only after a pause with `lifecycle.pauseKeepsWindow`. */
const pausedTotal: Readonly<Record<string, Header>> = {
  'paused-for': {
    description:
      'The time in milliseconds for which the delivery waited because its destination was paused, and by which the deadline moved. At most 48 hours.',
    pattern: count,
    examples: ['300000'],
  },
}

const deliveryHeaders: Readonly<Record<string, Header>> = { ...deliveryStateHeaders, ...attemptTrace, ...pausedTotal }

export const retryHeaders: Readonly<Record<string, Header>> = {
  ...deliveryHeaders,
  'paused-at': {
    description:
      'Time since which the delivery waits because its destination is paused, in milliseconds since 1970. Present only with the reason `paused`, while the pause extends the retry window (`lifecycle.pauseKeepsWindow`).',
    pattern: count,
    examples: ['1795248070000'],
  },
}

/**
 * The headers that every dead letter has. The header `destination` is not among them, because an
 * event that cannot be decoded has no known destination.
 */
export const requiredDeadLetterHeaders = [
  'reason',
  'outcomes',
  'origin-topic',
  'origin-partition',
  'origin-offset',
  'origin-timestamp',
  'round',
] as const

export const deadLetterHeaders: Readonly<Record<string, Header>> = {
  ...deliveryHeaders,
  'origin-key': {
    description: 'Key of the original event, each byte as a Latin-1 character. Absent when the event had no key.',
    examples: ['u-17'],
  },
  'original-length': {
    description:
      'Only on a dead letter whose value was truncated to 64 KiB: the original length in bytes of the value or the compressed batch.',
    pattern: count,
    examples: ['5242880'],
  },
  'first-offset': {
    description:
      'Only on a dead letter of a compressed batch that was not decompressed: its first offset. origin-offset is its last.',
    pattern: count,
    examples: ['38'],
  },
  'null-value': {
    description: '`1` when the value of the event was null. Absent otherwise.',
    pattern: '^1$',
    examples: ['1'],
  },
}

export const eventHeaders: Readonly<Record<string, Header>> = {
  'replay-of': {
    description:
      'Only on a replayed event: topic/partition/offset/timestamp of its original record. Hookline derives a missing message id and a missing time from them.',
    pattern: '^[\\w.-]{1,249}/\\d{1,10}/\\d{1,15}/(-1|\\d{1,15})$',
    examples: ['hookline.events/3/41/1795248000000'],
  },
  'done-for': {
    description:
      'Only on a replayed event: the ids of the destinations that had finished the event before it was dead-lettered, separated by commas. Hookline does not deliver the event to them again. Retry records and dead letters may have the header too.',
    examples: ['crm,shop'],
  },
  traceparent: {
    description:
      'The trace of the event (W3C Trace Context). Producers of events may set it; retry records and dead letters keep it.',
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  },
  tracestate: { description: 'Vendor-specific data of the trace, in addition to traceparent.', examples: ['vendor=1'] },
}

/** These headers are present only when the request that wrote the input was traced. */
export const inputHeaders: Readonly<Record<string, Header>> = {
  traceparent: {
    description:
      'Trace context of the request that wrote the input (W3C Trace Context). The spans of the membership updates link to it.',
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  },
  tracestate: { description: 'Vendor-specific data of the trace, in addition to traceparent.', examples: ['vendor=1'] },
}

export const suppressionHeaders: Readonly<Record<string, Header>> = {
  write: {
    description:
      'Id of the process that wrote the record. A process recognises its own records by this id when it reads the topic.',
    examples: ['4f1c6e0a'],
  },
  'made-of': {
    description:
      'Offset of the last record of this user that the writer had read, or `-1`. If another process wrote a record between that one and this one, readers apply both.',
    examples: ['17', '-1'],
  },
}

export const configObjectHeaders: Readonly<Record<string, Header>> = {
  version: {
    description:
      'The version of the object. Readers apply a record only if its version is the next one after the version in force (`src/core/config-objects/objects-from-topic.ts`).',
    pattern: count,
    examples: ['3'],
  },
  'changed-by': {
    description:
      'Name of the operator key that made the change. For a change by Hookline itself: a name that begins with `hookline.`.',
    examples: ['ada'],
  },
  'changed-at': { description: 'When the change was made, in ISO 8601.', examples: ['2026-11-21T08:00:00.000Z'] },
  action: { description: '`created`, `updated` or `deleted`.', examples: ['updated'] },
  fields: { description: 'JSON list of the paths of the changed fields.', examples: ['["webhooks[0].url"]'] },
  write: {
    description: 'Id of the write, by which the writer recognises its own record.',
    examples: ['4f1c6e0a-6f0c-4f3e-9d0d-1d8d1c3c2b10'],
  },
  copy: {
    description:
      'Number of the copy of this version. Hookline writes a copy after a record that readers ignore, so that compaction keeps this version. Absent for a change.',
    pattern: count,
    examples: ['1'],
  },
  offset: {
    description: 'Only of a copy: the offset of the record that it repeats.',
    pattern: count,
    examples: ['17'],
  },
  'key-offsets': {
    description:
      'Only of a source: JSON list with, for each write key, the offset of the record with which the source got the key. `null`: with this record. Of two sources with one write key, the one that got the key first keeps it.',
    examples: ['[null,17]'],
  },
  'created-at': {
    description:
      'When the object was created, in ISO 8601; each further version has the same time. A new destination with the id of a deleted one does not get deliveries that started before this time, unless it lists their source. Absent for a deletion, and if an earlier version of Hookline created the object.',
    examples: ['2026-11-21T08:00:00.000Z'],
  },
}

/** A record of the config topic without one of these headers is damaged. */
export const requiredConfigObjectHeaders = ['version', 'changed-at', 'action', 'write'] as const

/** The headers of a message as JSON Schema, which permits further headers. */
export function headersSchema(headers: Readonly<Record<string, Header>>, required: readonly string[] = []): object {
  return {
    type: 'object',
    ...(required.length > 0 && { required: [...required] }),
    properties: Object.fromEntries(
      Object.entries(headers).map(([name, header]) => [name, { type: 'string', ...header }]),
    ),
  }
}
