import { SchemaNotRegistered } from '../../adapters/avro/own-schemas-and-subjects.ts'
import { RegistryUnavailable } from '../../adapters/avro/schema-registry.ts'
import type { Logger } from '../../core/ports.ts'
import { awaitKafka } from './await-kafka.ts'

/**
 * The error when topics that the services need do not exist. The services do not start without
 * them, because auto-created topics would have the wrong partition count and retention.
 */
export class TopicsMissing extends Error {
  override readonly name = 'TopicsMissing'
  readonly code = 'topics_missing'
}

interface Context {
  /**
   * Whether to wait for missing topics and schemas, and for a schema registry that does not
   * respond.
   */
  readonly waitForSetup: boolean
  readonly logger: Pick<Logger, 'warn'>
  readonly stopAsked: AbortSignal
}

/**
 * Calls `ask` every 2 s until it succeeds, while Kafka is not ready yet (see `awaitKafka`). With
 * `waitForSetup`, also while topics or schemas are missing, or the schema registry does not
 * respond. On Kubernetes, a Job creates the topics and schemas while the services start.
 * @throws the errors of `awaitKafka`
 * @throws TopicsMissing, SchemaNotRegistered, RegistryUnavailable without `waitForSetup`
 * @throws a RegistryUnavailable that is not transient, with `waitForSetup`
 */
export const awaitSetup = <T>(ask: () => Promise<T>, { waitForSetup, logger, stopAsked }: Context): Promise<T> =>
  awaitKafka(ask, { logger, stopAsked, isAwaited: error => waitForSetup && isSetUpByOthers(error) })

const isSetUpByOthers = (error: unknown): boolean =>
  error instanceof TopicsMissing ||
  error instanceof SchemaNotRegistered ||
  (error instanceof RegistryUnavailable && error.isTransient)
