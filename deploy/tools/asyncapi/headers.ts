/** A header of a record, as it stands in the document. All are UTF-8 text; numbers are in decimal. */
interface Header {
  readonly description: string
  readonly pattern?: string
  readonly examples: readonly string[]
}

const time = '^-?\\d{1,16}$'
const count = '^\\d{1,16}$'

/** What a delivery takes along through retry and dead-letter topics. */
export const carriedHeaders: Readonly<Record<string, Header>> = {
  destination: { description: 'The destination that it is for.', examples: ['crm'] },
  attempt: { description: 'Attempts made so far.', pattern: count, examples: ['2'] },
  deferrals: { description: 'How often it was put off without an attempt.', pattern: count, examples: ['0'] },
  'started-at': {
    description: 'When the dispatcher first took the event up, in milliseconds since 1970.',
    pattern: count,
    examples: ['1795248000000'],
  },
  deadline: {
    description: 'The end of the retry window, in milliseconds since 1970.',
    pattern: count,
    examples: ['1795262400000'],
  },
  'not-before': {
    description: 'No attempt before this, in milliseconds since 1970.',
    pattern: count,
    examples: ['1795248070000'],
  },
  reason: {
    description: 'Why it waits, or was given up: an outcome, the cause of a deferral, a dead-letter reason.',
    examples: ['http_5xx'],
  },
  outcomes: {
    description:
      'The last outcome of every webhook that was called, separated by commas, in the order of the configuration; of an invalid_message the code of the rule that it breaks.',
    examples: ['http_4xx,http_5xx'],
  },
  'refused-webhooks': {
    description:
      'Which webhooks are not called again: the first 8 hex digits of the SHA-256 of each URL, separated by commas. The nth stands for the nth refusal in outcomes.',
    pattern: '^([0-9a-f]{8}(,[0-9a-f]{8})*)?$',
    examples: ['0badcafe'],
  },
  'origin-topic': { description: 'Where the event’s own record stands.', examples: ['hookline.events'] },
  'origin-partition': { description: 'Its partition.', pattern: time, examples: ['3'] },
  'origin-offset': { description: 'Its offset.', pattern: time, examples: ['41'] },
  'origin-timestamp': {
    description: 'Its timestamp, in milliseconds since 1970; -1 when it has none.',
    pattern: time,
    examples: ['1795248000000'],
  },
  round: { description: 'How often it was replayed.', pattern: count, examples: ['0'] },
  'message-id': { description: 'The id that receivers drop duplicates by.', examples: ['m-1'] },
}

/** Left out where there are no traces. */
const attemptTrace: Readonly<Record<string, Header>> = {
  'first-traceparent': {
    description: 'The place of the first attempt in its trace (W3C Trace Context), which later attempts link to.',
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  },
}

export const retryHeaders: Readonly<Record<string, Header>> = { ...carriedHeaders, ...attemptTrace }

/** Those of a dead letter that never became a delivery. */
export const leastOfDeadLetters = [
  'reason',
  'outcomes',
  'origin-topic',
  'origin-partition',
  'origin-offset',
  'origin-timestamp',
  'round',
] as const

export const deadLetterHeaders: Readonly<Record<string, Header>> = {
  ...retryHeaders,
  'origin-key': {
    description: 'The event’s own key, each byte as a character of Latin-1; left out when it had none.',
    examples: ['u-17'],
  },
  'original-length': {
    description:
      'Only on a dead letter whose value is the first 64 KiB: the length of the whole value in bytes, or of the compressed batch.',
    pattern: count,
    examples: ['5242880'],
  },
  'first-offset': {
    description:
      'Only on a dead letter that stands for a compressed batch, which is not unpacked: its first offset. Origin-offset is its last.',
    pattern: count,
    examples: ['38'],
  },
  'null-value': { description: '1: the event’s value was null. Else left out.', pattern: '^1$', examples: ['1'] },
}

export const eventHeaders: Readonly<Record<string, Header>> = {
  'replay-of': {
    description:
      'On an event that was put back: topic/partition/offset/timestamp of where it first stood, of which a missing id and time are made.',
    pattern: '^[\\w.-]{1,249}/\\d{1,10}/\\d{1,15}/(-1|\\d{1,15})$',
    examples: ['hookline.events/3/41/1795248000000'],
  },
  traceparent: {
    description:
      'The trace that the event is part of (W3C Trace Context). Whoever writes events may give it; it stays on copies for retries and on dead letters.',
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  },
  tracestate: { description: 'Beside traceparent: what vendors say of the trace.', examples: ['vendor=1'] },
}

/** Left out where there are no traces. */
export const inputHeaders: Readonly<Record<string, Header>> = {
  traceparent: {
    description: 'The request that wrote the input (W3C Trace Context), to which what comes of it is linked.',
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  },
  tracestate: { description: 'Beside traceparent: what vendors say of the trace.', examples: ['vendor=1'] },
}

export const suppressionHeaders: Readonly<Record<string, Header>> = {
  write: { description: 'Tells a writer its own records when it reads the topic.', examples: ['4f1c6e0a'] },
  'made-of': {
    description:
      'Offset of the record of this user that the writer knew; `-1`: none. Another one means that both hold.',
    examples: ['17', '-1'],
  },
}

/** The headers of a message as JSON Schema. Others’ headers, such as those of traces, stay beside them. */
export function headersSchema(headers: Readonly<Record<string, Header>>, required: readonly string[] = []): object {
  return {
    type: 'object',
    ...(required.length > 0 && { required: [...required] }),
    properties: Object.fromEntries(
      Object.entries(headers).map(([name, header]) => [name, { type: 'string', ...header }]),
    ),
  }
}
