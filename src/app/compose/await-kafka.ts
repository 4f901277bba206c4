import { setTimeout as delay } from 'node:timers/promises'
import { toKafkaError } from '../../adapters/kafka/kafkajs/errors.ts'
import type { Logger } from '../../core/ports.ts'

const retryIntervalMs = 2_000

interface Options {
  readonly logger: Pick<Logger, 'warn'>
  /** Aborted when the process must stop. */
  readonly stopAsked: AbortSignal
  /**
   * Whether `awaitKafka` repeats the call after an error that is not transient. After a transient
   * error, it always repeats the call.
   */
  readonly shouldRepeat?: (error: unknown) => boolean
}

/**
 * Repeats `ask` while Kafka is not ready.
 * @throws an error that waiting cannot correct, or the abort reason of `stopAsked`
 */
export async function awaitKafka<T>(
  ask: () => Promise<T>,
  { logger, stopAsked, shouldRepeat = () => false }: Options,
): Promise<T> {
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => undefined)
  const stop = (): void => stopped.reject(stopAsked.reason)
  stopAsked.addEventListener('abort', stop)
  if (stopAsked.aborted) stop()
  try {
    for (let logged = ''; ; ) {
      try {
        return await Promise.race([ask(), stopped.promise])
      } catch (error) {
        if (stopAsked.aborted || !(isTransient(error) || shouldRepeat(error))) throw error
        const { message } = error as Error
        if (message !== logged)
          logger.warn({ error: message }, 'hookline cannot start yet (see "error"); it tries again every 2 s')
        logged = message
      }
      await delay(retryIntervalMs, undefined, { signal: stopAsked })
    }
  } finally {
    stopAsked.removeEventListener('abort', stop)
  }
}

const isTransient = (error: unknown): boolean => toKafkaError('cannot use Kafka', error).retriable
