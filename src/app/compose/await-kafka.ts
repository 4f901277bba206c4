import { setTimeout as delay } from 'node:timers/promises'
import { isBrokerUnavailable, toKafkaError } from '../../adapters/kafka/kafkajs/errors.ts'
import type { Logger } from '../../core/ports.ts'

const retryIntervalMs = 2_000

/**
 * Repeats `ask` while Kafka cannot answer it yet: no broker responds, or a partition or a group has
 * no leader while the brokers start. A restart would not help, so the process does not exit.
 * @throws an error that only an operator can correct, such as a missing right or a missing topic;
 * or the abort reason when the process must stop
 */
export async function awaitKafka<T>(
  ask: () => Promise<T>,
  { logger, stopAsked }: { readonly logger: Pick<Logger, 'warn'>; readonly stopAsked: AbortSignal },
): Promise<T> {
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => undefined)
  const stop = (): void => stopped.reject(stopAsked.reason)
  stopAsked.addEventListener('abort', stop)
  if (stopAsked.aborted) stop()
  try {
    for (let isLogged = false; ; isLogged = true) {
      try {
        return await Promise.race([ask(), stopped.promise])
      } catch (error) {
        if (stopAsked.aborted || !isTransient(error)) throw error
        if (!isLogged)
          logger.warn(
            { error: (error as Error).message },
            'cannot use Kafka yet (see error); hookline tries again every 2 s',
          )
      }
      await delay(retryIntervalMs, undefined, { signal: stopAsked })
    }
  } finally {
    stopAsked.removeEventListener('abort', stop)
  }
}

const isTransient = (error: unknown): boolean =>
  isBrokerUnavailable(error) || toKafkaError('cannot use Kafka', error).retriable
