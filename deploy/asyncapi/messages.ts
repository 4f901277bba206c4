import {
  carriedHeaders,
  deadLetterHeaders,
  eventHeaders,
  headersSchema,
  leastOfDeadLetters,
  retryHeaders,
  suppressionHeaders,
} from './headers.ts'
import { attemptValue, deletionOutcomeValue, deletionValue, rejectedValue, suppressionsValue } from './values.ts'

const bindingVersion = '0.5.0'

interface Key {
  readonly description: string
  readonly examples: readonly string[]
  readonly nullable?: true
}

/** The key, as text in UTF-8 where nothing else is said. */
const keySchema = ({ description, examples, nullable }: Key): object => ({
  type: nullable ? ['string', 'null'] : 'string',
  description,
  examples: [...examples],
})

const tombstone = 'A null value says that there is nothing under the key any more.'

/** A value in Confluent's framing: a zero byte, the schema id as four bytes big-endian, the Avro bytes. */
function avro(
  title: string,
  summary: string,
  schema: string,
  key: Key,
  headers?: object,
  description?: string,
): object {
  return {
    title,
    summary,
    ...(description !== undefined && { description }),
    contentType: 'application/vnd.confluent.avro',
    ...(headers !== undefined && { headers }),
    payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { $ref: `./${schema}.avsc` } },
    bindings: {
      kafka: {
        key: keySchema(key),
        schemaIdLocation: 'payload',
        schemaIdPayloadEncoding: 'confluent',
        // Files are called as subjects are.
        'x-registry-subject': schema,
        bindingVersion,
      },
    },
  }
}

function json(
  title: string,
  summary: string,
  payload: object,
  key: Key,
  headers?: object,
  description?: string,
): object {
  return {
    title,
    summary,
    ...(description !== undefined && { description }),
    contentType: 'application/json',
    ...(headers !== undefined && { headers }),
    payload,
    bindings: { kafka: { key: keySchema(key), bindingVersion } },
  }
}

const user: Key = { description: 'userId, else anonymousId, as UTF-8; partitioned by murmur2.', examples: ['u-17'] }
const eventSchema = 'hookline.events-value'

/** Everything that stands on a topic, by the name that the document has for it. */
export const messages = {
  event: avro(
    'An event',
    'An analytics message: identify, track, page, screen, group, alias, or a delete.',
    eventSchema,
    user,
    headersSchema(eventHeaders),
    'Other producers write it too: see the README beside this file. Headers of theirs stay with it on all its ways through topics.',
  ),
  retry: avro(
    'A delivery that waits',
    'An event for one destination, with what is known of its delivery in the headers.',
    eventSchema,
    { ...user, description: 'The event’s own. The record stands in the partition number of the event.' },
    headersSchema(retryHeaders, Object.keys(carriedHeaders)),
    'Key and value are the event’s own bytes.',
  ),
  deadLetter: avro(
    'A dead letter',
    'A delivery that was given up, or an event that never became one.',
    eventSchema,
    {
      description: '`<destination, or ->/<origin topic>/<origin partition>/<origin offset>/<round>`',
      examples: ['crm/hookline.events/3/41/0'],
    },
    headersSchema(deadLetterHeaders, leastOfDeadLetters),
    `The value is the event’s own bytes: what is \`undecodable\` may be anything. ${tombstone} It was put back.`,
  ),
  rejected: json('A rejected message', 'What the collector did not take, with the reason.', rejectedValue, {
    description: 'Its message id, where it has one.',
    examples: ['m-1'],
    nullable: true,
  }),
  audienceInput: avro(
    'An input of audiences',
    'What a sync observed, its end, how a change ended at a destination, a reset, a deletion.',
    'hookline.audience-input-value',
    {
      description: 'The user id; null for what concerns all of an audience, which is written to every partition.',
      examples: ['u-17'],
      nullable: true,
    },
  ),
  membership: avro(
    'A membership, or the mark of an audience',
    'What is known of one user in one audience at one destination, or of an audience as a whole in this partition.',
    'hookline.audience-memberships-value',
    {
      description:
        'JSON: `["<audience>","<user>","<destination>"]`, or `["<audience>"]`. The record stands in the partition of its user’s inputs.',
      examples: ['["First time shopper","u-17","crm"]', '["First time shopper"]'],
    },
    undefined,
    tombstone,
  ),
  suppression: json(
    'What is known of a deleted user',
    'Since when nothing that was received before is delivered, and whether anything is taken.',
    suppressionsValue,
    { description: 'The user id.', examples: ['u-17'] },
    headersSchema(suppressionHeaders),
    tombstone,
  ),
  deletion: json('A deletion that was accepted', 'Whom it affects.', deletionValue, {
    description: 'JSON: `["<id>"]`',
    examples: ['["4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11"]'],
  }),
  deletionOutcome: json(
    'How a delete ended',
    'For one user at one destination. A later one replaces it.',
    deletionOutcomeValue,
    {
      description: 'JSON: `["<id>","<source>","<destination>","<user>"]`',
      examples: ['["4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11","web","crm","u-17"]'],
    },
  ),
  attempt: json('An attempt', 'How one attempt of a delivery ended.', attemptValue, {
    description: 'The destination.',
    examples: ['crm'],
  }),
} as const satisfies Readonly<Record<string, object>>

export type MessageName = keyof typeof messages
