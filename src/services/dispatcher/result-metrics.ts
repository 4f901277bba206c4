import type { Decision, Deferral } from '../../core/delivery/decide.ts'
import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { DeadLetterReason } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import type { Drop, Routing } from '../../core/delivery/route.ts'
import type { Counts, ResultCounts } from '../../core/live-status/result-counts-of-this-process.ts'
import type { Event, EventHead } from '../../core/message/event.ts'
import { canarySource } from '../../core/message/own-event-builder-and-source-ids.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { formatDuration } from '../../core/time.ts'
import type { DestinationObserver } from '../notices/facts-seen-by-this-process.ts'
import type { Delivery } from './delivery.ts'

/**
 * Counts results in metrics. Call these methods only after Kafka has stored all records that the
 * result requires. If the partition is revoked earlier, its next owner counts the result.
 */
export interface CountResults {
  delivery(delivery: Pick<Delivery, 'event' | 'carried' | 'target'>, decision: Decision): void
  dropped(event: Event, drop: Drop): void
  /** Counts an event that is deferred because its source or destination is not known. */
  unrouted(decision: Deferral): void
  /**
   * Counts a record that is dead-lettered before any delivery. `event` is `undefined` if the record
   * was not decoded.
   */
  refused(event: EventHead | undefined, reason: DeadLetterReason, destination: string | undefined): void
}

export function createCountResults({
  metrics,
  clock,
  logger,
  routing,
  observer,
  results,
}: {
  readonly metrics: Metrics
  readonly clock: Clock
  readonly logger: Logger
  readonly routing: () => Pick<Routing, 'destinations'>
  readonly observer: Pick<DestinationObserver, 'deadLettered'>
  readonly results: ResultCounts
}): CountResults {
  const lost = (reason: 'dead_lettered' | 'dropped'): void => metrics.canaryLost.inc({ reason })

  /**
   * Seconds since the event's append. Do not call this for replays and resends (`round` is not 0):
   * their events may be days old.
   */
  const sinceAppend = ({ origin }: DeliveryState): number => Math.max(0, clock.now() - origin.timestamp) / 1000

  /** Counts the final result of a canary message. */
  function countCanary(end: Decision['kind'], carried: DeliveryState): void {
    if (end === 'dead_lettered' || end === 'dropped') lost(end)
    if (end !== 'delivered') return
    metrics.canaryReceived.inc({})
    if (carried.round === 0) metrics.canarySeconds.observe({}, sinceAppend(carried))
  }

  function countDeadLetter(destination: string, reason: DeadLetterReason, counts: Counts): void {
    counts.deadLettered++
    metrics.deadLetters.inc({ destination, reason })
    observer.deadLettered(destination, reason)
  }

  function countDrop(source: string, messageId: string, { reason, destination }: Drop): void {
    metrics.drops.inc({ reason })
    if (logger.isLevelEnabled('debug')) logger.debug({ reason, source, destination, messageId }, 'delivery dropped')
  }

  return {
    delivery({ event: { sourceId }, carried, target }, decision) {
      const { destination, attempt, messageId, round } = carried
      if (decision.kind === 'delivered') {
        target.delivered ??= metrics.deliveries.withLabels({ destination, result: decision.kind })
        target.delivered.inc()
        results.delivered(target.results)
        if (attempt > 0 && round === 0) metrics.retriedDelivery.observe({}, sinceAppend(carried))
      } else metrics.deliveries.inc({ destination, result: decision.kind })
      if ('tier' in decision) metrics.parked.inc({ tier: formatDuration(decision.tier) })
      if (decision.kind === 'deferred') metrics.deferrals.inc({ cause: decision.cause })
      if (decision.kind === 'dropped') {
        countDrop(sourceId, messageId, { reason: decision.reason, destination })
        target.results.dropped++
      }
      if (decision.kind === 'dead_lettered') countDeadLetter(destination, decision.reason, target.results)
      if (sourceId === canarySource) countCanary(decision.kind, carried)
    },
    dropped({ sourceId, message: { messageId } }, drop) {
      countDrop(sourceId, messageId, drop)
      if (drop.destination !== undefined) results.of(drop.destination).dropped++
      if (sourceId === canarySource) lost('dropped')
    },
    unrouted({ kind, tier, cause }) {
      metrics.deliveries.inc({ destination: noDestination, result: kind })
      metrics.parked.inc({ tier: formatDuration(tier) })
      metrics.deferrals.inc({ cause })
    },
    refused(event, reason, destination) {
      // An event may name any destination: with unconfigured destinations as labels, the number of
      // series would be unlimited.
      if (destination !== undefined && routing().destinations.has(destination))
        countDeadLetter(destination, reason, results.of(destination))
      else metrics.deadLetters.inc({ destination: noDestination, reason })
      if (event?.sourceId === canarySource) lost('dead_lettered')
    },
  }
}
