import { assertNever } from '../../core/assert-never.ts'
import type { Decision, Deferral } from '../../core/delivery/decide.ts'
import { type DeliveryState, retryRecord } from '../../core/delivery/delivery-state.ts'
import { withDoneFor } from '../../core/delivery/done-destinations-header.ts'
import type { DeadLetterReason } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { type Drop, type Routing, reportedDestinations } from '../../core/delivery/route.ts'
import type { LedgerResult } from '../../core/ledger/ledger-counts.ts'
import type { ResultCounts } from '../../core/live-status/result-counts-of-this-process.ts'
import type { Event, EventHead } from '../../core/message/event.ts'
import type { RejectionCode } from '../../core/message/message-rejection.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { DestinationObserver } from '../notices/facts-seen-by-this-process.ts'
import { type AppendDeps, type Appends, createAppends } from '../partitions/append-until-stored.ts'
import { createWriteDeadLetter } from '../partitions/write-dead-letter.ts'
import type { AdmittedRecord } from './admitted-record.ts'
import type { Delivery } from './delivery.ts'
import type { OriginReportRecord } from './delivery-result-report-record.ts'
import { type DeliveryResult, reportOf } from './report-for-audience-or-deletion.ts'
import { createCountResults } from './result-metrics.ts'

interface Deps extends AppendDeps {
  readonly reportRecord: OriginReportRecord
  readonly topics: TopicNames
  readonly routing: () => Pick<Routing, 'destinations'>
  readonly observer: Pick<DestinationObserver, 'deadLettered'>
  readonly results: ResultCounts
}

/**
 * Carries out the decisions about deliveries. A record is done only when Kafka has stored its
 * copies in retry and dead-letter topics, and the reports about membership updates and delete
 * messages.
 */
export interface Settle extends Pick<Appends, 'unwritableTopics' | 'unacknowledged'> {
  /**
   * Calls `ended` when the delivery is settled, or is left to the next owner of a revoked
   * partition.
   */
  delivery(delivery: Delivery, decision: Decision, ended: () => void): void
  dropped(open: AdmittedRecord, event: Event, drop: Drop): void
  /** Defers a record whose source or destination is not known. */
  unrouted(open: AdmittedRecord, decision: Deferral): void
  /** Dead-letters a record before any delivery, with its original value. */
  refused(
    open: AdmittedRecord,
    reason: DeadLetterReason,
    known?: { code?: RejectionCode; carried?: Partial<DeliveryState> | undefined; event?: Event },
  ): void
}

export function createSettle(deps: Deps): Settle {
  const { reportRecord, topics, clock, metrics, logger, routing, observer, results } = deps
  const count = createCountResults({ metrics, clock, logger, routing, observer, results })
  const { append, unwritableTopics, unacknowledged } = createAppends(deps)
  const writeDeadLetter = createWriteDeadLetter({ append, topics, metrics, logger })

  const report = createReport({ reportRecord, append, logger })

  function settle(delivery: Delivery, decision: Decision, ended: () => void): void {
    const { of, carried, event } = delivery
    const { destination } = carried
    const end = (settled: boolean): void => {
      if (settled) {
        count.delivery(delivery, decision)
        of.doneFor(destination, resultOf(decision))
      }
      of.release()
      ended()
    }
    switch (decision.kind) {
      case 'delivered':
        return report(of, event, destination, 'delivered', end)
      case 'dropped':
        return report(of, event, destination, decision.reason, end)
      case 'deferred':
      case 'retried':
        return append(topics.retry(decision.tier), retryRecord(of.record, decision.carried), of.processor, end, () =>
          settle(delivery, { ...decision, kind: 'dead_lettered', reason: 'record_too_large' }, ended),
        )
      case 'dead_lettered':
        return writeDeadLetter(of.record, decision, of.processor, written =>
          written ? report(of, event, destination, decision.reason, end) : end(false),
        )
      default:
        return assertNever(decision)
    }
  }

  function dropped(open: AdmittedRecord, event: Event, drop: Drop): void {
    const { reason, destination } = drop
    open.retain()
    report(open, event, destination, reason, settled => {
      if (settled) {
        count.dropped(event, drop)
        open.count(destination ?? noDestination, 'dropped')
      }
      open.release()
    })
  }

  function unrouted(open: AdmittedRecord, decision: Deferral): void {
    const end = (written: boolean): void => {
      if (written) {
        count.unrouted(decision)
        open.unroutedResult('moved')
      }
      open.release()
    }
    const tooLarge = (): void => refused(open, 'record_too_large', { carried: { origin: decision.carried.origin } })
    const record = withDoneFor(open.record, open.earlierDone)
    append(topics.retry(decision.tier), retryRecord(record, decision.carried), open.processor, end, tooLarge)
  }

  function refused(open: AdmittedRecord, reason: DeadLetterReason, known: Parameters<Settle['refused']>[2] = {}): void {
    const done = open.earlierDone
    writeDeadLetter(withDoneFor(open.record, done), { ...known, reason }, open.processor, written => {
      const { event } = known
      if (written) {
        count.refused(event, reason, open.destination === undefined ? undefined : known.carried?.destination)
        open.unroutedResult('dead_lettered')
      }
      for (const destination of written && event !== undefined ? reportedDestinations(event) : []) {
        // An earlier owner of the partition has reported the result of this destination.
        if (done.includes(destination)) continue
        open.retain()
        report(open, event as Event, destination, reason, () => open.release())
      }
      open.release()
    })
  }

  return { delivery: settle, dropped, unrouted, refused, unwritableTopics, unacknowledged }
}

/** A retried or deferred delivery is `moved`: it continues as a copy in a retry topic. */
const resultOf = ({ kind }: Decision): LedgerResult => (kind === 'deferred' || kind === 'retried' ? 'moved' : kind)

const reportTooLarge =
  'hookline could not write the result of a delivery of a user deletion or an audience, because the record is too large for the topic (see "topic" and "error"); the status of the deletion or audience lacks this result; increase max.message.bytes of the topic'

type Report = (
  of: AdmittedRecord,
  event: EventHead,
  destination: string | undefined,
  how: DeliveryResult,
  end: (settled: boolean) => void,
) => void

/**
 * Appends the report of a result. A report that is too large is dropped, because otherwise the
 * partition would wait for the append forever.
 */
function createReport({
  reportRecord,
  append,
  logger,
}: Pick<Deps, 'reportRecord' | 'logger'> & Pick<Appends, 'append'>): Report {
  return (of, event, destination, how, end) => {
    if (event.origin === undefined || destination === undefined) return end(true)
    const due = reportOf(event, destination, how)
    if (due === undefined) return end(true)
    const { topic, record } = reportRecord(due)
    append(topic, record, of.processor, end, ({ message }) => {
      logger.error({ topic, error: message }, reportTooLarge)
      end(true)
    })
  }
}
