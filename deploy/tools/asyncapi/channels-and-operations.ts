import { delivery } from '../../../src/core/settings/schema-of-configuration.ts'
import { formatDuration } from '../../../src/core/time.ts'
import { type TopicSpec, tiersOf, topicConfig, topicNames, topicSpecs } from '../../../src/core/topics.ts'
import type { MessageName } from './messages.ts'

const names = topicNames('hookline')
const { schedule } = delivery.parse({})
const specs = topicSpecs({ prefix: 'hookline', partitions: 12, replicationFactor: 3 }, schedule, {
  attemptsTopic: 'all',
  configTopic: true,
  jobsTopic: true,
})
const tiers = tiersOf(schedule)

interface Channel {
  readonly topic: string
  readonly title: string
  readonly description: string
  readonly messages: readonly MessageName[]
  /** What Hookline writes to the topic (`sends`), and what it reads from there (`receives`). */
  readonly sends: string
  readonly receives?: string
}

const channels = {
  events: {
    topic: names.events,
    title: 'Events',
    description: 'All accepted messages. Your own applications may write to this topic.',
    messages: ['event'],
    sends:
      'The collector, the client library, syncs, deletions and replays write events. The dispatcher writes canary messages, notices and destination facts.',
    receives: 'The dispatcher reads events and delivers them.',
  },
  retry: {
    topic: names.retry(tiers[0]!),
    title: 'Retries',
    description: 'Deliveries that wait for their next attempt, one topic for each delay.',
    messages: ['retry'],
    sends:
      'The dispatcher writes the deliveries that it retries or defers. Replays write dead letters of a destination, and resends write events for a destination.',
    receives: 'The dispatcher reads a record when it is due.',
  },
  deadLetter: {
    topic: names.deadLetter,
    title: 'Dead letters',
    description: 'Deliveries that failed permanently, with the reason, until they are replayed.',
    messages: ['deadLetter'],
    sends:
      'The dispatcher and the audiences service write dead letters. Replays write a null value for each replayed dead letter.',
    receives: 'The operator API, `hookline dead-letters` and `hookline replay` read it.',
  },
  rejected: {
    topic: names.rejected,
    title: 'Rejected messages',
    description:
      'Messages that the collector rejected, at most 1,000 of one request. Best effort: a message may be missing.',
    messages: ['rejected'],
    sends: 'The collector writes rejected messages.',
  },
  audienceInput: {
    topic: names.audienceInput,
    title: 'Audience inputs',
    description:
      'All inputs from which Hookline computes memberships, in order within a partition. Only Hookline writes this topic.',
    messages: ['audienceInput'],
    sends:
      'Syncs, replays, resets and deletions write inputs. The dispatcher writes the results of membership updates.',
    receives: 'The audiences service computes the membership updates for each destination.',
  },
  memberships: {
    topic: names.memberships,
    title: 'Memberships',
    description:
      'For each audience, user and destination: whether the user is a member. Only Hookline writes this topic.',
    messages: ['membership'],
    sends: 'The audiences service writes each change.',
    receives: 'The audiences service reads a partition to its end before it processes inputs of it.',
  },
  suppressions: {
    topic: names.suppressions,
    title: 'Deleted and suppressed users',
    description: 'Only Hookline writes this topic.',
    messages: ['suppression'],
    sends: 'Deletions write suppressions, operators remove them, and the dispatcher removes expired ones.',
    receives: 'Every process reads it to its end before its services start, and then reads new records.',
  },
  deletions: {
    topic: names.deletions,
    title: 'Deletions',
    description: 'The progress of deletions. Only Hookline writes this topic.',
    messages: ['deletion', 'deletionOutcome'],
    sends: 'Deletions write their users, and the dispatcher writes the result of each delete message.',
    receives: 'The operator API and `hookline delete-user --status` read the status of deletions.',
  },
  status: {
    topic: names.status,
    title: 'Status of the processes',
    description:
      'The status of each process and of its destinations. Best effort: a record may be missing. Only Hookline writes this topic.',
    messages: ['processStatus', 'activity', 'results'],
    sends: 'Every process writes its status every 5 seconds, and the results of destinations every 10 seconds.',
    receives: 'The operator service reads it and shows the sums in the operator API.',
  },
  attempts: {
    topic: names.attempts,
    title: 'Attempts',
    description:
      'Failed attempts, successful attempts of deliveries that had failed before or were replayed, and ends of deliveries without an attempt (a drop only after a failure, a replay or a deletion). With `delivery.attemptsTopic: all`: every attempt. With `delivery.attemptsTopic: off`, the topic does not exist. Best effort: a record may be missing.',
    messages: ['attempt'],
    sends: 'The dispatcher writes finished attempts.',
    receives: 'The operator API and `hookline tail` read it.',
  },
  ledger: {
    topic: names.ledger,
    title: 'Ledger',
    description: 'The results of deliveries by hour and destination. Only Hookline writes this topic.',
    messages: ['ledgerRecord'],
    sends: 'The dispatcher writes the results of a partition when its commits have no room for them.',
    receives: 'The operator API reads it for `GET /v1/ledger`.',
  },
  config: {
    topic: names.config,
    title: 'Configuration objects',
    description:
      'Destinations and sources that the operator API creates, and failure states of destinations. Exists only with `operator.encryptionKeyFile`. Only Hookline writes this topic.',
    messages: ['configObject'],
    sends: 'The operator API writes each change. The dispatcher writes failure states.',
    receives: 'Every process reads it to its end before its services start, and then reads new records.',
  },
  jobs: {
    topic: names.jobs,
    title: 'Replays and resends',
    description:
      'The jobs that the operator API starts, with their progress. Exists only with `operator.keys`. Only Hookline writes this topic.',
    messages: ['job'],
    sends: 'The operator API writes new and cancelled jobs, and the process that runs a job writes its progress.',
    receives: 'Every operator process reads it to its end before it starts, and then reads new records.',
  },
} as const satisfies Readonly<Record<string, Channel>>

const entries = Object.entries(channels) as readonly (readonly [string, Channel])[]

/** The channels have the partitions, replicas and configuration of `hookline topics apply`. */
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
          description: 'The delay of a record. The values depend on `delivery.schedule`; these are the defaults.',
        },
      },
    }),
    messages: Object.fromEntries(messages.map(name => [name, { $ref: `#/components/messages/${name}` }])),
    bindings: { kafka: { ...bindingOf(spec), bindingVersion: '0.5.0' } },
    tags: spec.requiredBy.map(name => ({ name })),
  }
}

function bindingOf(spec: TopicSpec): object {
  const {
    'cleanup.policy': policy = '',
    'retention.ms': retention,
    'max.message.bytes': maxRecordBytes,
    'delete.retention.ms': tombstoneRetention,
    ...others
  } = topicConfig(spec)
  return {
    partitions: spec.partitions,
    replicas: spec.replicationFactor,
    topicConfiguration: {
      'cleanup.policy': policy.split(','),
      ...(retention !== undefined && { 'retention.ms': Number(retention) }),
      ...(tombstoneRetention !== undefined && { 'delete.retention.ms': Number(tombstoneRetention) }),
      ...(maxRecordBytes !== undefined && { 'max.message.bytes': Number(maxRecordBytes) }),
      ...others,
    },
  }
}

/** What Hookline writes and reads. */
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
