import { processClock } from '../adapters/clock/process-clock.ts'
import { createKafka } from '../adapters/kafka/kafkajs/client.ts'
import { createFollower } from '../adapters/kafka/log/topic-follower.ts'
import { type Merged, mergeObjects } from '../core/config-objects/merge-objects.ts'
import { objectKeyOf } from '../core/config-objects/object-record.ts'
import type { ReadObject } from '../core/config-objects/read-object.ts'
import type { Clock, TopicFollower } from '../core/ports.ts'
import type { Settings } from '../core/settings/settings.ts'
import { formatPath, type SettingsProblem } from '../core/settings/settings-problem.ts'
import { type DurationMs, durationMs, formatDuration } from '../core/time.ts'
import { topicNames } from '../core/topics.ts'
import { createObjectStore } from '../services/config-objects/object-store.ts'
import { readingContextOf } from './compose/merged-settings.ts'
import { CommandFailed, type CommandIo, commandLogger, withRemedy } from './create-command.ts'
import { loadSettings, type ServicesNeeded } from './load-settings.ts'
import { printable } from './terminal-table-and-progress-bar.ts'

/** The clock and the topic follower for the config topic. */
export interface ConfigTopicAccess {
  open(settings: Settings, io: CommandIo): TopicFollower
  readonly clock: Clock
}

/**
 * Maximum time to read the config topic. The time is enough for 10,000 objects (about 30 MB) and
 * all their changes of 7 days.
 */
const readLimit = durationMs(30_000)

const readers: ServicesNeeded = new Set(['config_topic'])

/**
 * Loads the settings for a command that uses destinations or sources: those of the configuration
 * file and, if `operator.encryptionKeyFile` is set, those of the config topic.
 * @throws the errors of `loadSettings` and `mergeConfigTopic`
 */
export async function loadMergedSettings(
  options: { readonly config?: string },
  io: CommandIo,
  access: ConfigTopicAccess = configTopicAccess,
): Promise<Settings> {
  return mergeConfigTopic(await loadSettings(options, io, readers), io, readLimit, access)
}

/**
 * Adds the objects of the config topic to the settings of the file. Writes to stderr the problems
 * of these objects, and each unknown source that a destination of the file names.
 * @throws CommandFailed, KafkaError
 */
export async function mergeConfigTopic(
  file: Settings,
  io: CommandIo,
  limit: DurationMs,
  { open, clock }: ConfigTopicAccess = configTopicAccess,
): Promise<Settings> {
  if (file.configTopic !== true) return file
  const topic = topicNames(file.topics.prefix).config
  const follower = open(file, io)
  const reading = readingContextOf(file)
  const store = createObjectStore({ follower, topic, logger: commandLogger(io), clock, reading })
  const timeIsOver = Promise.withResolvers<never>()
  const late = `cannot read topic ${topic} within ${formatDuration(limit)}; this topic has the destinations and sources that were created through the operator API; check that Kafka responds, and try again`
  const cancel = clock.after(limit, () => timeIsOver.reject(new CommandFailed(late)))
  try {
    await Promise.race([store.start(), timeIsOver.promise])
    const objects = [...store.objects()]
    const merged = mergeObjects(file, objects, store.failures)
    for (const line of [...excludedIn(merged, objects), ...problemsInFile(merged)]) io.stderr.write(`${line}\n`)
    return merged.settings
  } catch (error) {
    throw withRemedy(error)
  } finally {
    cancel()
    await store.stop()
  }
}

const configTopicAccess: ConfigTopicAccess = {
  clock: processClock,
  open(settings, io) {
    const logger = commandLogger(io)
    const topic = topicNames(settings.topics.prefix).config
    return createFollower({ kafka: createKafka(settings.kafka, logger), topic, clock: processClock, logger })
  },
}

function excludedIn({ problems, conflicts }: Merged, objects: readonly ReadObject[]): readonly string[] {
  return objects.flatMap(object => {
    const key = objectKeyOf(object)
    if (conflicts.has(key)) return []
    return [...object.problems, ...(problems.get(key) ?? [])].map(problem => lineOf(key, problem))
  })
}

const problemsInFile = (merged: Merged): readonly string[] =>
  [...merged.problemsInFile].flatMap(([key, problems]) =>
    problems.map(problem => `hookline: the configuration file names an unknown source: ${textOf(key, problem)}`),
  )

const lineOf = (key: string, problem: SettingsProblem): string =>
  `hookline: the command ignores an invalid destination or source that was created through the operator API: ${textOf(key, problem)}`

function textOf(key: string, { path, message, hint }: SettingsProblem): string {
  const subject = [key, formatPath(path)].filter(Boolean).join(': ')
  return printable(`${subject}: ${message} (${hint})`)
}
