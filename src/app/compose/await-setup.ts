import { RegistryUnavailable } from '../../adapters/avro/schema-registry.ts'
import { SchemaNotRegistered } from '../../adapters/avro/schema-texts-and-subject-names.ts'
import type { Logger } from '../../core/ports.ts'
import { awaitKafka } from './await-kafka.ts'

/**
 * Topics are missing. The services must not start: auto-created topics would have the wrong
 * partition count and retention.
 */
export class TopicsMissing extends Error {
  override readonly name = 'TopicsMissing'
  readonly code = 'topics_missing'
}

interface Context {
  /** Whether to wait for missing topics and schemas, and for the schema registry. */
  readonly waitForSetup: boolean
  readonly logger: Pick<Logger, 'warn'>
  readonly stopAsked: AbortSignal
}

/**
 * Calls `ask` until Kafka is ready; with `waitForSetup`, also until the topics and schemas exist
 * and the registry responds.
 * @throws the errors of `awaitKafka`
 */
export const awaitSetup = <T>(ask: () => Promise<T>, { waitForSetup, logger, stopAsked }: Context): Promise<T> =>
  awaitKafka(ask, { logger, stopAsked, shouldRepeat: error => waitForSetup && isSetUpByOthers(error) })

const isSetUpByOthers = (error: unknown): boolean =>
  error instanceof TopicsMissing ||
  error instanceof SchemaNotRegistered ||
  (error instanceof RegistryUnavailable && error.isTransient)
