import {
  carriedHeaders,
  deadLetterHeaders,
  eventHeaders,
  headersSchema,
  inputHeaders,
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

interface About {
  readonly title: string
  readonly summary: string
  readonly description?: string
  readonly key: Key
  readonly headers?: object
}

/** A value in Confluent's framing: a zero byte, the schema id as four bytes big-endian, the Avro bytes. */
const avro = (schema: string, about: About): object =>
  message(about, {
    contentType: 'application/vnd.confluent.avro',
    payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { $ref: `./${schema}.avsc` } },
    // Files are called as subjects are.
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

const user: Key = { description: 'userId, else anonymousId, as UTF-8; partitioned by murmur2.', examples: ['u-17'] }
const eventSchema = 'hookline.events-value'

/** Everything that stands on a topic, by the name that the document has for it. */
export const messages = {
  event: avro(eventSchema, {
    title: 'An event',
    summary: 'An analytics message: identify, track, page, screen, group, alias, or a delete.',
    description:
      'Other producers write it too: see the README beside this file. Headers of theirs stay with it on all its ways through topics.',
    key: user,
    headers: headersSchema(eventHeaders),
  }),
  retry: avro(eventSchema, {
    title: 'A delivery that waits',
    summary: 'An event for one destination, with what is known of its delivery in the headers.',
    description: 'Key and value are the event’s own bytes.',
    key: { ...user, description: 'The event’s own. The record stands in the partition number of the event.' },
    headers: headersSchema(retryHeaders, Object.keys(carriedHeaders)),
  }),
  deadLetter: avro(eventSchema, {
    title: 'A dead letter',
    summary: 'A delivery that was given up, or an event that never became one.',
    description: `The value is the event’s own bytes: what is \`undecodable\` may be anything. ${tombstone} It was put back.`,
    key: {
      description: '`<destination, or ->/<origin topic>/<origin partition>/<origin offset>/<origin timestamp>/<round>`',
      examples: ['crm/hookline.events/3/41/1795248000000/0'],
    },
    headers: headersSchema(deadLetterHeaders, leastOfDeadLetters),
  }),
  rejected: json(rejectedValue, {
    title: 'A rejected message',
    summary: 'What the collector did not take, with the reason.',
    key: { description: 'Its message id, where it has one.', examples: ['m-1'], nullable: true },
  }),
  audienceInput: avro('hookline.audience-input-value', {
    title: 'An input of audiences',
    summary: 'What a sync observed, its end, how a change ended at a destination, a reset, a deletion.',
    key: {
      description: 'The user id; null for what concerns all of an audience, which is written to every partition.',
      examples: ['u-17'],
      nullable: true,
    },
    headers: headersSchema(inputHeaders),
  }),
  membership: avro('hookline.audience-memberships-value', {
    title: 'A membership, or the mark of an audience',
    summary:
      'What is known of one user in one audience at one destination, or of an audience as a whole in this partition.',
    description: tombstone,
    key: {
      description:
        'JSON: `["<audience>","<user>","<destination>"]`, or `["<audience>"]`. The record stands in the partition of its user’s inputs.',
      examples: ['["First time shopper","u-17","crm"]', '["First time shopper"]'],
    },
  }),
  suppression: json(suppressionsValue, {
    title: 'What is known of a deleted user',
    summary: 'Since when nothing that was received before is delivered, and whether anything is taken.',
    description: tombstone,
    key: { description: 'The user id.', examples: ['u-17'] },
    headers: headersSchema(suppressionHeaders),
  }),
  deletion: json(deletionValue, {
    title: 'A deletion that was accepted',
    summary: 'Whom it affects.',
    key: { description: 'JSON: `["<id>"]`', examples: ['["4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11"]'] },
  }),
  deletionOutcome: json(deletionOutcomeValue, {
    title: 'How a delete ended',
    summary: 'For one user at one destination. A later one replaces it.',
    key: {
      description: 'JSON: `["<id>","<source>","<destination>","<user>"]`',
      examples: ['["4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11","web","crm","u-17"]'],
    },
  }),
  attempt: json(attemptValue, {
    title: 'An attempt',
    summary: 'How one attempt of a delivery ended.',
    key: { description: 'The destination.', examples: ['crm'] },
  }),
} as const satisfies Readonly<Record<string, object>>

export type MessageName = keyof typeof messages
