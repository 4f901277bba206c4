import type { MemoryBudget } from '../../core/collector/memory-budget.ts'
import type { Outage } from '../../core/collector/outage.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock, Logger, LogProducer, RecordHeaders } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { HeldRecords } from './held-records.ts'

/** A sender waits no longer than this: many give up after ten seconds themselves, and it takes less to elect a new leader. */
const storeDeadline = durationMs(10_000)

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly held: MemoryBudget
  readonly outage: Outage
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Hands over the records of one request, at least one. `stored`: all in-sync replicas have each of them. `failed`: one was refused,
 * or the deadline is over; others may be stored all the same. `traceId`: of the trace that the request is part of, if that one is kept.
 */
export type Store = (held: HeldRecords, headers: RecordHeaders, traceId?: string) => Promise<'stored' | 'failed'>

export function createStore({ producer, topic, held, outage, clock, metrics, logger }: Deps): Store {
  function failed(error: Error): void {
    metrics.produceFailures.inc({ topic })
    if (outage.age(clock.monotonic()) === undefined)
      logger.error({ topic, error: error.message }, 'messages are not stored; most requests are refused until one is')
    outage.failed(clock.monotonic())
  }

  function acknowledged(): void {
    const age = outage.age(clock.monotonic())
    if (age !== undefined) logger.info({ topic, lastedMs: Math.round(age.lastedMs) }, 'messages are stored again')
    outage.acknowledged()
  }

  return (request, headers, traceId) => {
    const { records, bytes } = request.handOver()
    const startedAt = clock.monotonic()
    return new Promise(resolve => {
      let waiting = records.length
      let hasFailed = false
      const fail = (error: Error): void => {
        hasFailed = true
        failed(error)
        resolve('failed')
      }
      const cancel = clock.after(storeDeadline, () => fail(new Error(`no answer within ${storeDeadline} ms`)))
      const onAck = (error: Error | undefined): void => {
        waiting -= 1
        if (error === undefined) acknowledged()
        else fail(error)
        if (waiting > 0) return
        // Only now: what was refused to its sender still lies in the producer until it is answered.
        held.giveBack(bytes)
        cancel()
        metrics.collectorStoreSeconds.observe({}, (clock.monotonic() - startedAt) / 1_000, traceId)
        if (!hasFailed) resolve('stored')
      }
      for (const { key, value } of records) producer.append(topic, { key, value, headers }, onAck)
    })
  }
}
