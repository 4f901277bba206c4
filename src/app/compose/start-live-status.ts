import { hostname } from 'node:os'
import { library } from '../../../packages/client/src/version.ts'
import { processTime } from '../../adapters/clock/process-clock.ts'
import { createFollower } from '../../adapters/kafka/log/topic-follower.ts'
import { createProducer } from '../../adapters/kafka/producer/producer.ts'
import { resultsAge } from '../../core/live-status/status-sums-of-all-processes.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import { epochMs } from '../../core/time.ts'
import { createStatusView, type StatusView } from '../../services/live-status/status-view.ts'
import { createStatusWriter, type StatusWriter } from '../../services/live-status/status-writer.ts'
import type { SharedDependencies } from './shared-dependencies.ts'

/**
 * Starts the status writer. It has its own producer, so that slow responses to status records do
 * not delay retry and dead-letter records.
 */
export async function startStatusWriter(
  shared: SharedDependencies,
  services: ReadonlySet<ServiceName>,
): Promise<StatusWriter> {
  const { lifecycle, kafka, topics, clock, logger } = shared
  const producer = createProducer({ kafka, clock, logger, onAppended: processTime.learn })
  await lifecycle.start({ name: 'status producer', stop: () => producer.stop() })
  const instance = `${hostname()
    .replaceAll(/[^\w.-]/g, '-')
    .slice(0, 63)}-${clock.id().slice(0, 8)}`
  const writer = createStatusWriter({
    ...{ ...shared, producer, topic: topics.status, instance },
    ...{ services: [...services], version: library.version },
  })
  await lifecycle.start({ name: 'status writer', start: async () => writer.start(), stop: writer.stop })
  return writer
}

/** Starts to read the status topic, from about a day ago (`resultsAge`). */
export async function startStatusView({
  lifecycle,
  kafka,
  topics,
  clock,
  logger,
}: SharedDependencies): Promise<StatusView> {
  const topic = topics.status
  const follower = createFollower({ kafka, topic, clock, logger, from: epochMs(clock.now() - resultsAge) })
  const view = createStatusView({ follower, topic, clock, logger })
  await lifecycle.start({ name: 'status topic', start: async () => view.start(), stop: view.stop })
  return view
}
