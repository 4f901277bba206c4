import {
  configObjectHeaders,
  deadLetterHeaders,
  deliveryStateHeaders,
  eventHeaders,
  headersSchema,
  inputHeaders,
  requiredConfigObjectHeaders,
  requiredDeadLetterHeaders,
  retryHeaders,
  suppressionHeaders,
} from './headers.ts'
import {
  activityValue,
  attemptValue,
  configObjectValue,
  deletionOutcomeValue,
  deletionValue,
  jobValue,
  processStatusValue,
  rejectedValue,
  resultsValue,
  suppressionsValue,
} from './json-record-values.ts'

const bindingVersion = '0.5.0'

interface Key {
  readonly description: string
  readonly examples: readonly string[]
  readonly nullable?: true
}

const keySchema = ({ description, examples, nullable }: Key): object => ({
  type: nullable ? ['string', 'null'] : 'string',
  description,
  examples: [...examples],
})

const tombstone = 'A null value (tombstone) removes the key.'

interface About {
  readonly title: string
  readonly summary: string
  readonly description?: string
  readonly key: Key
  readonly headers?: object
}

/** A message in Confluent's wire format: a zero byte, the schema id (4 bytes, big-endian), Avro. */
const avro = (schema: string, about: About): object =>
  message(about, {
    contentType: 'application/vnd.confluent.avro',
    payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { $ref: `./${schema}.avsc` } },
    binding: { schemaIdLocation: 'payload', schemaIdPayloadEncoding: 'confluent', 'x-registry-subject': schema },
  })

const json = (payload: object, about: About): object =>
  message(about, { contentType: 'application/json', payload, binding: {} })

function message(
  { title, summary, description, key, headers }: About,
  { contentType, payload, binding }: { contentType: string; payload: object; binding: object },
): object {
  return {
    title,
    summary,
    ...(description !== undefined && { description }),
    contentType,
    ...(headers !== undefined && { headers }),
    payload,
    bindings: { kafka: { key: keySchema(key), ...binding, bindingVersion } },
  }
}

const user: Key = {
  description: 'userId, or anonymousId when there is none, as UTF-8. Partitioned with murmur2.',
  examples: ['u-17'],
}
const eventSchema = 'hookline.events-value'

/** The keys are the names of the messages in the document. */
export const messages = {
  event: avro(eventSchema, {
    title: 'An event',
    summary: 'A message: identify, track, page, screen, group, alias or delete.',
    description:
      "Other producers may write events too: see the README in this directory. Retry records and dead letters keep their headers as UTF-8 text: the last value of a repeated name, and an empty text for a null value. They do not keep headers of a producer that have names of Hookline's own headers.",
    key: user,
    headers: headersSchema(eventHeaders),
  }),
  retry: avro(eventSchema, {
    title: 'A delivery that waits',
    summary: 'An event for one destination, with the state of its delivery in the headers.',
    description: 'Key and value are the original bytes of the event.',
    key: { ...user, description: 'The key of the event. The record has the same partition number as the event.' },
    headers: headersSchema(retryHeaders, Object.keys(deliveryStateHeaders)),
  }),
  deadLetter: avro(eventSchema, {
    title: 'A dead letter',
    summary:
      'A delivery that failed permanently, an event that could not become a delivery, or an audience input that cannot be decoded.',
    description: `The value is the original bytes of the event; with the reason \`undecodable\` it may be anything. ${tombstone} Hookline writes it when the dead letter was replayed.`,
    key: {
      description: '`<destination, or ->/<origin topic>/<origin partition>/<origin offset>/<origin timestamp>/<round>`',
      examples: ['crm/hookline.events/3/41/1795248000000/0'],
    },
    headers: headersSchema(deadLetterHeaders, requiredDeadLetterHeaders),
  }),
  rejected: json(rejectedValue, {
    title: 'A rejected message',
    summary: 'A message that the collector rejected, with the reason.',
    key: { description: 'The message id, if there is one.', examples: ['m-1'], nullable: true },
  }),
  audienceInput: avro('hookline.audience-input-value', {
    title: 'An audience input',
    summary:
      'A user in a sync, the end of a sync, the result of a membership update, a replay of one, a reset, or a deletion.',
    key: {
      description: 'The user id. Null for an input about a whole audience, which is written to every partition.',
      examples: ['u-17'],
      nullable: true,
    },
    headers: headersSchema(inputHeaders),
  }),
  membership: avro('hookline.audience-memberships-value', {
    title: 'A membership, or the watermark of an audience',
    summary:
      'The state of one user in one audience at one destination, or of an audience as a whole in this partition.',
    description: tombstone,
    key: {
      description:
        'JSON: `["<audience>","<user>","<destination>"]`, or `["<audience>"]`. The record has the same partition number as the inputs of its user.',
      examples: ['["First time shopper","u-17","crm"]', '["First time shopper"]'],
    },
  }),
  suppression: json(suppressionsValue, {
    title: 'The suppressions of a deleted user',
    summary:
      'The time of the deletion: Hookline does not deliver events that it received at or before this time. Also whether Hookline suppresses new events.',
    description: tombstone,
    key: { description: 'The user id.', examples: ['u-17'] },
    headers: headersSchema(suppressionHeaders),
  }),
  deletion: json(deletionValue, {
    title: 'A deletion that was accepted',
    summary:
      'The affected users, sources and destinations. A deletion with more than 5,000 destinations and sources has several records, each with a part of them.',
    key: {
      description: 'JSON: `["<id>"]`, then `["<id>","2"]` and so on',
      examples: ['["01a1fd7c-3123-7c3e-9d4e-7a1f0b6c2d11"]'],
    },
  }),
  deletionOutcome: json(deletionOutcomeValue, {
    title: 'Result of a delete message',
    summary: 'The result for one user at one destination. A later record replaces it.',
    key: {
      description: 'JSON: `["<id>","<source>","<destination>","<user>"]`',
      examples: ['["01a1fd7c-3123-7c3e-9d4e-7a1f0b6c2d11","web","crm","u-17"]'],
    },
  }),
  attempt: json(attemptValue, {
    title: 'An attempt',
    summary: 'The result of one attempt of a delivery, or the end of a delivery without an attempt.',
    key: { description: 'The message id.', examples: ['m-1'] },
  }),
  processStatus: json(processStatusValue, {
    title: 'A process',
    summary: 'The status that a process writes every 5 seconds. It is valid for 30 seconds.',
    description: 'A null value (tombstone) means that the process has ended.',
    key: { description: '`process/<instance>`', examples: ['process/hookline-dispatcher-0-1f6b2c3d'] },
  }),
  activity: json(activityValue, {
    title: 'Current activity of destinations',
    summary:
      'For each destination of a shard: an open circuit breaker, requests in progress, deliveries in the queue, and the rate limit that Hookline set because of a 429.',
    description: tombstone,
    key: {
      description: '`activity/<instance>/<shard>`. The shard is the murmur2 of the destination, unsigned, modulo 64.',
      examples: ['activity/hookline-dispatcher-0-1f6b2c3d/17'],
    },
  }),
  results: json(resultsValue, {
    title: 'Results of destinations',
    summary: 'The results that a process counted for the destinations of a shard in 15 minutes.',
    key: {
      description: '`results/<instance>/<start of the 15 minutes, in milliseconds since 1970>/<shard>`',
      examples: ['results/hookline-dispatcher-0-1f6b2c3d/1795248000000/17'],
    },
  }),
  ledgerRecord: {
    name: 'ledgerRecord',
    title: 'Results of a partition',
    summary: 'Numbers of deliveries by destination, hour and result, in a binary format of Hookline.',
    contentType: 'application/octet-stream',
    payload: {
      description:
        'See `LedgerCounts.write` in src/core/ledger/ledger-counts.ts. Only records that a commit names count, directly or through the header `previous-offset` of another record.',
    },
  },
  configObject: json(configObjectValue, {
    title: 'A destination, a source or a failure state',
    summary:
      'A version of an object that operators change through the operator API, or of the failure state of a destination. The secrets of an object are encrypted.',
    description: 'A null value (tombstone) deletes the object. All records are in partition 0.',
    key: {
      description: '`destination/<id>`, `source/<id>` or `failures/<id of the destination>`',
      examples: ['destination/crm', 'source/web'],
    },
    headers: headersSchema(configObjectHeaders, requiredConfigObjectHeaders),
  }),
  job: json(jobValue, {
    title: 'A replay or a resend',
    summary: 'A job of the operator API with its progress.',
    description:
      'Readers apply the first record of each version, and ignore later records with the same version. All records are in partition 0.',
    key: { description: '`replay/<id>` or `resend/<id>`', examples: ['replay/01a1fd7c-3123-7c3e-9d4e-7a1f0b6c2d11'] },
  }),
} as const satisfies Readonly<Record<string, object>>

export type MessageName = keyof typeof messages
