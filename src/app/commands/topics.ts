import type { Command } from 'commander'
import { createKafka } from '../../adapters/kafka/kafkajs/client.ts'
import { errorCodeOf } from '../../adapters/kafka/kafkajs/errors.ts'
import { createAdmin } from '../../adapters/kafka/log/topic-admin.ts'
import { countWithNoun } from '../../core/count-with-noun.ts'
import { type TopicDrift, topicDrift } from '../../core/doctor/topic-drift.ts'
import type { TopicAdmin, TopicDescription } from '../../core/ports.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { type TopicSpec, topicConfig, topicSpecsOf, topicToCreate } from '../../core/topics.ts'
import {
  CommandFailed,
  type CommandIo,
  commandLogger,
  createCommand,
  printData,
  withExamples,
} from '../create-command.ts'
import { loadSettings } from '../load-settings.ts'
import { wholeNumber, withConfigOption, withJsonOption } from '../options.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
  readonly replicationFactor?: number
}

type OpenAdmin = (settings: Settings, io: CommandIo) => TopicAdmin
const openAdmin: OpenAdmin = (settings, io) => createAdmin(createKafka(settings.kafka, commandLogger(io)))

/** `hookline topics apply|check` */
export function topicsCommand(io: CommandIo, open: OpenAdmin = openAdmin): Command {
  const withAdmin =
    (work: (admin: TopicAdmin, settings: Settings, options: Options) => Promise<void>) =>
    async (options: Options): Promise<void> => {
      const settings = await loadSettings(options, io)
      const admin = open(settings, io)
      try {
        await work(admin, settings, options)
      } finally {
        await admin.close()
      }
    }

  const apply = createCommand('apply', 'create missing topics; existing topics are not changed', io)
    .option(
      '--replication-factor <n>',
      'replication factor of new topics (default: topics.replicationFactor of the configuration)',
      wholeNumber('--replication-factor', 1),
    )
    .action(withAdmin((admin, settings, options) => applyTopics(admin, settings, options, io)))
  const check = createCommand(
    'check',
    'compare the topics with what the services need; exit code 1 if a topic is missing or misconfigured',
    io,
  ).action(withAdmin((admin, settings, options) => checkTopics(admin, settings, options, io)))
  const command = createCommand('topics', 'create and check the Kafka topics', io)
  command.addCommand(
    withExamples(withJsonOption(withConfigOption(apply)), ['hookline topics apply --config hookline.yaml']),
  )
  command.addCommand(
    withExamples(withJsonOption(withConfigOption(check)), [
      'hookline topics check --config hookline.yaml',
      'hookline topics check --json | jq \'.drift[] | select(.severity == "error")\'',
    ]),
  )
  return withExamples(command, ['hookline topics apply', 'hookline topics check'])
}

const specsOf = (settings: Settings, { replicationFactor }: Options): readonly TopicSpec[] =>
  topicSpecsOf({
    ...settings,
    topics: { ...settings.topics, ...(replicationFactor !== undefined && { replicationFactor }) },
  })

/** Describes the topics of `specs` that exist. */
const describe = (admin: TopicAdmin, specs: readonly TopicSpec[]): Promise<readonly TopicDescription[]> =>
  admin.describe(specs.map(({ name }) => name))

async function applyTopics(admin: TopicAdmin, settings: Settings, options: Options, io: CommandIo): Promise<void> {
  const specs = specsOf(settings, options)
  const existing = await describe(admin, specs)
  const results = []
  for (const spec of specs) {
    const { name, partitions, replicationFactor } =
      existing.find(topic => topic.name === spec.name) ?? topicToCreate(spec, existing)
    const exists = existing.some(topic => topic.name === name)
    if (!exists) await create(admin, { name, partitions, replicationFactor, config: topicConfig(spec) })
    results.push({ topic: name, result: exists ? 'exists' : 'created', partitions, replicationFactor })
  }
  const lines = results.map(
    ({ topic, result, partitions }) => `${result.padEnd(7)} ${topic} (${countWithNoun(partitions, 'partition')})`,
  )
  printData(io, options, { topics: results }, lines)
  const drift = topicDrift(specs, await describe(admin, specs), settings.delivery.window)
  const small = drift.filter(({ kind }) => kind === 'record_size').length
  if (small > 0)
    io.stderr.write(
      `hookline: max.message.bytes is too small on ${countWithNoun(small, 'topic')}; see: hookline topics check\n`,
    )
  const unfit = unfitTopics(drift)
  if (unfit.size === 0) return
  io.stderr.write(`hookline: misconfigured existing topics: ${unfit.size}; see: hookline topics check\n`)
}

/** Creates a topic. @throws CommandFailed when fewer brokers run than the topic has replicas */
async function create(admin: TopicAdmin, topic: Parameters<TopicAdmin['create']>[0]): Promise<void> {
  try {
    await admin.create(topic)
  } catch (error) {
    if (errorCodeOf(error) !== 'INVALID_REPLICATION_FACTOR') throw error
    const remedy = 'start more brokers, or set topics.replicationFactor or --replication-factor to a lower number'
    throw new CommandFailed(
      `${(error as Error).message}; the replication factor ${topic.replicationFactor} is higher than the number of running brokers: ${remedy}`,
      { cause: error },
    )
  }
}

async function checkTopics(admin: TopicAdmin, settings: Settings, options: Options, io: CommandIo): Promise<void> {
  const specs = specsOf(settings, options)
  const drift = topicDrift(specs, await describe(admin, specs), settings.delivery.window)
  const unfit = unfitTopics(drift)
  const lines = drift.map(({ severity, topic, detail }) => `${severity} ${topic} ${detail}`)
  const verdict = unfit.size === 0 ? [`${specs.length} topics are ready`] : []
  printData(io, options, { fit: unfit.size === 0, topics: specs.length, drift }, [...lines, ...verdict])
  if (unfit.size === 0) return
  const errors = drift.filter(({ severity }) => severity === 'error')
  const remedies = [
    errors.some(({ kind }) => kind === 'missing') && 'create missing topics with: hookline topics apply',
    errors.some(({ kind }) => kind === 'partitions') &&
      'correct the numbers of partitions as docs/how-to/scale.md says',
    errors.some(({ kind }) => kind !== 'missing' && kind !== 'partitions') &&
      "correct misconfigured topics with Kafka's own tools, such as kafka-configs.sh",
  ].filter(text => text !== false)
  throw new CommandFailed([`missing or misconfigured topics: ${unfit.size} of ${specs.length}`, ...remedies].join('; '))
}

const unfitTopics = (drift: readonly TopicDrift[]): ReadonlySet<string> =>
  new Set(drift.filter(({ severity }) => severity === 'error').map(({ topic }) => topic))
