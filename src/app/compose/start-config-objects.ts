import { randomBytes } from 'node:crypto'
import { processClock as clock } from '../../adapters/clock/process-clock.ts'
import type { KafkaClient } from '../../adapters/kafka/kafkajs/client.ts'
import { createFollower } from '../../adapters/kafka/log/topic-follower.ts'
import type { ConfigObjects } from '../../core/config-objects/config-objects.ts'
import { nonceBytes } from '../../core/config-objects/seal.ts'
import type { Logger, LogProducer } from '../../core/ports.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { TopicNames } from '../../core/topics.ts'
import { createConfigObjects } from '../../services/config-objects/list-and-change-config-objects.ts'
import { createObjectStore, type ObjectStore } from '../../services/config-objects/object-store.ts'
import { ObjectWriter } from '../../services/config-objects/object-writer.ts'
import { createSealRenewal } from '../../services/config-objects/seal-renewal.ts'
import { createSourceDeletionUndo } from '../../services/config-objects/undo-source-deletions.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { awaitKafka } from './await-kafka.ts'
import type { MergedSettings } from './merged-settings.ts'

interface Context {
  readonly merged: MergedSettings
  readonly lifecycle: Lifecycle
  readonly logger: Logger
}

/**
 * Follows the config topic, and resolves when its objects are in the settings. Resolves with
 * `undefined` if `operator.encryptionKeyFile` is not set.
 */
export async function startObjectStore(
  {
    settings,
    merged,
    lifecycle,
    logger,
    stopAsked,
  }: Context & { readonly settings: Settings; readonly stopAsked: AbortSignal },
  { kafka, topics }: { readonly kafka: KafkaClient; readonly topics: TopicNames },
): Promise<ObjectStore | undefined> {
  if (settings.configTopic !== true) return undefined
  const topic = topics.config
  const follower = createFollower({ kafka, topic, clock, logger })
  const store = createObjectStore({ follower, topic, logger, clock, reading: merged.readingContext() })
  const start = (): Promise<void> => awaitKafka(store.start, { logger, stopAsked })
  await lifecycle.start({ name: 'config topic', start, stop: store.stop })
  merged.follow(store)
  await lifecycle.start({ name: 'merged settings', stop: async () => merged.stop() })
  return store
}

interface WriterDeps extends Context {
  readonly objectStore: ObjectStore | undefined
  readonly producer: LogProducer
  readonly topics: TopicNames
}

/**
 * Starts the writer of the config topic. Resolves with `undefined` if this topic does not exist.
 */
export async function startObjectWriter(deps: Omit<WriterDeps, 'merged'>): Promise<ObjectWriter | undefined> {
  const { objectStore: store, lifecycle } = deps
  if (store === undefined) return undefined
  const writer = new ObjectWriter({ ...deps, store, topic: deps.topics.config, clock })
  await lifecycle.start({ name: 'configuration object writer', stop: async () => writer.stop() })
  return writer
}

type ObjectsDeps = Context & {
  readonly objectStore: ObjectStore | undefined
  readonly objectWriter: ObjectWriter | undefined
}

/**
 * Creates the component through which the operator API reads and changes configuration objects.
 * Call this function only once in a process, because it also starts two background tasks.
 */
export async function startConfigObjects(deps: ObjectsDeps): Promise<ConfigObjects> {
  const { objectStore: store, objectWriter: writer, merged, lifecycle, logger } = deps
  const { file, get, latest } = merged
  const common = { file, merged: get, latest, clock, newNonce: () => randomBytes(nonceBytes) }
  if (store === undefined || writer === undefined) return createConfigObjects({ topic: undefined, ...common })
  const objects = createConfigObjects({ topic: { store, writer }, ...common })
  const renewal = createSealRenewal({ store, objects, clock, logger })
  await lifecycle.start({
    name: 're-encryption of stored secrets',
    start: async () => renewal.start(),
    stop: async () => renewal.stop(),
  })
  const undo = createSourceDeletionUndo({ store, writer, clock, logger })
  await lifecycle.start({ name: 'undo of source deletions', stop: async () => undo.stop() })
  return objects
}
