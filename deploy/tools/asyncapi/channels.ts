import { delivery } from '../../../src/core/settings/schema.ts'
import { type TopicSpec, tiersOf, topicConfig, topicNames, topicSpecs } from '../../../src/core/topics.ts'
import { formatDuration } from '../../../src/core/units.ts'
import type { MessageName } from './messages.ts'

/** With the defaults of the configuration. */
const names = topicNames('hookline')
const { schedule } = delivery.parse({})
const specs = topicSpecs({ prefix: 'hookline', partitions: 12, replicationFactor: 3 }, schedule, {
  attemptsTopic: true,
})
const tiers = tiersOf(schedule)

interface Channel {
  readonly topic: string
  readonly title: string
  readonly description: string
  readonly messages: readonly MessageName[]
  /** What Hookline does with it, one operation for each word. */
  readonly sends: string
  readonly receives?: string
}

const channels = {
  events: {
    topic: names.events,
    title: 'Events',
    description: 'Every message that was accepted. You may write to it yourself.',
    messages: ['event'],
    sends: 'The collector, the client library, syncs, deletions and replays write events.',
    receives: 'The dispatcher takes events up and delivers them.',
  },
  retry: {
    topic: names.retry(tiers[0]!),
    title: 'Retries',
    description: 'Deliveries that wait for their next attempt, one topic for each length of wait.',
    messages: ['retry'],
    sends: 'The dispatcher puts off what may work later; replays put back what was given up.',
    receives: 'The dispatcher takes a record up when its time has come.',
  },
  deadLetter: {
    topic: names.deadLetter,
    title: 'Dead letters',
    description: 'What was given up, with its reason, until it is put back.',
    messages: ['deadLetter'],
    sends: 'The dispatcher writes what it gives up; replays write null over what they put back.',
    receives: '`hookline dead-letters` and `hookline replay` read it.',
  },
  rejected: {
    topic: names.rejected,
    title: 'Rejected messages',
    description: 'What the collector did not take. Best effort.',
    messages: ['rejected'],
    sends: 'The collector writes what it rejects.',
  },
  audienceInput: {
    topic: names.audienceInput,
    title: 'Inputs of audiences',
    description: 'All that memberships are made of, in one order a partition. Written by Hookline only.',
    messages: ['audienceInput'],
    sends: 'Syncs, the dispatcher’s reports, replays, resets and deletions.',
    receives: 'The audiences service works out what each destination has to be told.',
  },
  memberships: {
    topic: names.memberships,
    title: 'Memberships',
    description: 'What each destination is known to have. Written by Hookline only.',
    messages: ['membership'],
    sends: 'The audiences service writes each change.',
    receives: 'The audiences service reads it to its end before it works on a partition.',
  },
  suppressions: {
    topic: names.suppressions,
    title: 'Deleted and suppressed users',
    description: 'Written by Hookline only.',
    messages: ['suppression'],
    sends: 'Deletions, and whoever lifts a suppression.',
    receives: 'Every process reads it to its end before its services start, and follows it.',
  },
  deletions: {
    topic: names.deletions,
    title: 'Deletions',
    description: 'How deletions go on. Written by Hookline only.',
    messages: ['deletion', 'deletionOutcome'],
    sends: 'Deletions, and the dispatcher’s report of how each delete ended.',
    receives: 'Whoever asks how a deletion goes.',
  },
  attempts: {
    topic: names.attempts,
    title: 'Attempts',
    description: 'Every attempt of a delivery; there only with `delivery.attemptsTopic`. Best effort.',
    messages: ['attempt'],
    sends: 'The dispatcher writes each attempt when it has ended.',
    receives: '`hookline tail` follows it.',
  },
} as const satisfies Readonly<Record<string, Channel>>

const entries = Object.entries(channels) as readonly (readonly [string, Channel])[]

/** The channels of the document; partitions, replicas and configuration are those that `hookline topics apply` creates. */
export function channelObjects(): object {
  return Object.fromEntries(entries.map(([id, channel]) => [id, channelObject(channel)]))
}

function channelObject({ topic, title, description, messages }: Channel): object {
  const spec = specs.find(({ name }) => name === topic)!
  const isTier = topic === channels.retry.topic
  const waits = tiers.map(formatDuration)
  return {
    address: isTier ? `${names.retry(tiers[0]!).replace(/[^.]+$/, '')}{tier}` : topic,
    title,
    description,
    ...(isTier && {
      parameters: {
        tier: {
          enum: waits,
          description: 'How long a record waits. With another `delivery.schedule` there are others.',
        },
      },
    }),
    messages: Object.fromEntries(messages.map(name => [name, { $ref: `#/components/messages/${name}` }])),
    bindings: { kafka: { ...bindingOf(spec), bindingVersion: '0.5.0' } },
    tags: spec.usedBy.map(name => ({ name })),
  }
}

function bindingOf(spec: TopicSpec): object {
  const {
    'cleanup.policy': policy = '',
    'retention.ms': retention,
    'max.message.bytes': maxRecordBytes,
    ...others
  } = topicConfig(spec)
  return {
    partitions: spec.partitions,
    replicas: spec.replicationFactor,
    topicConfiguration: {
      'cleanup.policy': policy.split(','),
      ...(retention !== undefined && { 'retention.ms': Number(retention) }),
      ...(maxRecordBytes !== undefined && { 'max.message.bytes': Number(maxRecordBytes) }),
      ...others,
    },
  }
}

/** What Hookline does with each channel. */
export function operationObjects(): object {
  return Object.fromEntries(
    entries.flatMap(([id, channel]) => {
      const of = (action: 'send' | 'receive', summary: string | undefined): readonly (readonly [string, object])[] =>
        summary === undefined
          ? []
          : [
              [
                `${action}${id.charAt(0).toUpperCase()}${id.slice(1)}`,
                {
                  action,
                  channel: { $ref: `#/channels/${id}` },
                  summary,
                  messages: channel.messages.map(name => ({ $ref: `#/channels/${id}/messages/${name}` })),
                },
              ],
            ]
      return [...of('send', channel.sends), ...of('receive', channel.receives)]
    }),
  )
}
