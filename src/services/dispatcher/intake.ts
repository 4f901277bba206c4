import { LinkedList } from '../../core/collections/linked-list.ts'
import { deferUnrouted } from '../../core/delivery/decide.ts'
import { type DeliveryState, initialState } from '../../core/delivery/delivery-state.ts'
import { recoveredState } from '../../core/delivery/delivery-state-of-malformed-record.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { bodyOf } from '../../core/delivery/payload.ts'
import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import { type Route, type Routing, route } from '../../core/delivery/route.ts'
import type { ResultCounts } from '../../core/live-status/result-counts-of-this-process.ts'
import { type Event, type EventHead, headOf, keyOf, normaliseEvent } from '../../core/message/event.ts'
import { messageIdAt } from '../../core/message/message-ids-and-required-identifiers.ts'
import { factsSource, isOwnSource } from '../../core/message/own-event-builder-and-source-ids.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, EventCodec, Logger, LogRecord } from '../../core/ports.ts'
import { type DeliveryRules, effectivePolicy } from '../../core/settings/effective-policy.ts'
import type { Destination, PayloadSettings } from '../../core/settings/settings.ts'
import { epochMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { Notices } from '../notices/notices.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createSchemaWait, type WaitForSchema } from '../partitions/schema-wait.ts'
import { AdmittedRecord } from './admitted-record.ts'
import type { AttemptStarter } from './attempt-starter.ts'
import { carriedIn } from './delivery-state-of-record.ts'
import { DeletionCheck } from './forged-delete-check.ts'
import { noteOriginForLedger } from './record-origin-for-ledger.ts'
import type { Settle } from './settle.ts'

type UnroutedReason = Extract<Route, { kind: 'dead_lettered' }>['reason']

interface Deps {
  readonly codec: EventCodec
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly delivery: DeliveryRules
  readonly policy: RetryPolicy
  readonly topics: TopicNames
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly settle: Settle
  readonly starter: Pick<AttemptStarter, 'stateOf' | 'enqueue' | 'dispatch'>
  readonly suppressions: Pick<SuppressionList, 'get' | 'age'>
  readonly notices: Pick<Notices, 'factsRead'>
  readonly results: Pick<ResultCounts, 'totals'>
}

/** Records with a larger value are dead-lettered without decoding. */
const maxEventBytes = 16 * 1024 * 1024

const unknownSchema = 'the schema registry does not know the schema of the record'

/** The result of reading a record, before any delivery starts. */
interface Plan {
  readonly event: Event
  readonly head: EventHead
  /** The route of the event; `undefined` for a retry record whose destination is known. */
  readonly route: Route | undefined
  readonly body: Buffer | undefined
}

/**
 * Admits records: decodes them, normalises events of other producers, and enqueues the deliveries.
 */
export class Intake {
  readonly #deps: Deps
  readonly #waitForSchema: WaitForSchema<AdmittedRecord>
  readonly #deletionCheck: DeletionCheck
  readonly #open = new LinkedList<AdmittedRecord>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#waitForSchema = createSchemaWait({
      codec: deps.codec,
      clock: deps.clock,
      logger: deps.logger,
      dispatch: deps.starter.dispatch,
      decode: open => this.#decode(open),
      unknown: open => this.#refuseBytes(open, unknownSchema, carriedIn(open.record, deps.topics)),
    })
    this.#deletionCheck = new DeletionCheck({
      suppressions: deps.suppressions,
      clock: deps.clock,
      decode: open => this.#decode(open),
      dispatch: deps.starter.dispatch,
    })
  }

  /** The records in progress, oldest first. */
  get open(): Iterable<AdmittedRecord> & { readonly size: number } {
    return this.#open
  }

  /** Removes the records of a partition that another process may own now. */
  forget(processor: PartitionProcessor): void {
    for (const open of this.#open) if (open.processor === processor) this.#remove(open)
  }

  take(record: LogRecord, processor: PartitionProcessor): void {
    const open = new AdmittedRecord(record, processor, this.#deps.clock.monotonic(), this)
    this.#open.add(open)
    if (!this.#deletionCheck.queueBehindDelete(open)) this.#decode(open)
  }

  done(open: AdmittedRecord): void {
    this.#remove(open)
    const { record, hour, entries } = open
    // Pass no reference to `open`: the tracker would keep the value of the record in memory.
    open.processor.done(record, { hour, entries })
  }

  /** Removes a record from the records in progress, unless `forget` has already removed it. */
  #remove(open: AdmittedRecord): void {
    if (open.isOpen) this.#open.remove(open)
    open.isOpen = false
  }

  #decode(open: AdmittedRecord): void {
    const { codec, topics } = this.#deps
    const { record } = open
    const carried = carriedIn(record, topics)
    const isMalformed = carried === undefined && topics.tierOf(record.topic) !== undefined
    const recovered = isMalformed ? recoveredState(record) : undefined
    noteOriginForLedger(open, carried ?? recovered, topics)
    if (record.unreadBatch !== undefined) return this.#refuseBytes(open, record.unreadBatch.why)
    if (isMalformed)
      return this.#refuseBytes(open, 'the headers with the delivery state are missing or malformed', recovered)
    if (record.value === null) return this.#refuseBytes(open, 'the value of the record is null', carried)
    if (record.value.length > maxEventBytes)
      return this.#refuseBytes(
        open,
        `the value has ${record.value.length} bytes, more than the limit of ${maxEventBytes}`,
        carried,
      )
    const decoded = codec.decode(record.value, (carried?.origin ?? firstOrigin(record)).timestamp)
    switch (decoded.kind) {
      case 'event':
        return decoded.event.canonical
          ? this.#accept(open, decoded.event, carried)
          : this.#normalise(open, decoded.event, carried)
      case 'schema_needed':
        return this.#waitForSchema(open, decoded.schemaId)
      case 'undecodable':
        return this.#refuseBytes(open, decoded.detail, carried)
    }
  }

  #refuseBytes(open: AdmittedRecord, detail: string, carried?: DeliveryState): void {
    this.#deps.logger.warn(
      { ...positionOf(open.record), detail },
      'hookline cannot process the record as an event (see "detail"), and dead-letters it with the reason "undecodable": find the program that wrote the record, and correct the program or its schema',
    )
    this.#deps.settle.refused(open, 'undecodable', { carried })
  }

  #normalise(open: AdmittedRecord, foreign: Event, carried: DeliveryState | undefined): void {
    const { logger, metrics, settle } = this.#deps
    // Without `canonical: true`, the event is from another producer, which must not use Hookline's
    // own sources.
    if (isOwnSource(foreign.sourceId)) return settle.refused(open, 'unknown_source', { carried: namesIn(foreign) })
    const newId = (): string => carried?.messageId ?? messageIdAt(firstOrigin(open.record))
    const normalised = this.#tried(open, carried, () => normaliseEvent(foreign, newId))
    if (normalised === undefined) return
    if (normalised.kind === 'rejected') {
      logger.warn(
        { ...positionOf(open.record), code: normalised.code, detail: normalised.message },
        'the event breaks a rule for messages (see "detail"), so hookline dead-letters it with the reason "invalid_message": correct the program that wrote the event to the events topic',
      )
      return settle.refused(open, 'invalid_message', { code: normalised.code, carried })
    }
    if (normalised.droppedKeys > 0) metrics.droppedKeys.inc({}, normalised.droppedKeys)
    this.#accept(open, normalised.event, carried)
  }

  #accept(open: AdmittedRecord, event: Event, carried: DeliveryState | undefined): void {
    if (event.sourceId === factsSource) {
      this.#deps.notices.factsRead(event, open.processor)
      return open.release()
    }
    const plan = this.#tried(open, carried, () => this.#plan(event, carried))
    if (plan === undefined) return
    if (event.message.type !== 'delete') return this.#carryOut(open, plan, carried)
    this.#deletionCheck.check(open, event, isConfirmedDelete => {
      if (isConfirmedDelete) this.#carryOut(open, plan, carried)
      else
        this.#refuseBytes(
          open,
          'Hookline finds no deletion request for this delete message: another program wrote the message, or the request is older than 53 days; to delete the user, run `hookline delete-user`',
          carried,
        )
    })
  }

  /**
   * Calls `make`, and dead-letters the record when `make` throws. Otherwise, the record would crash
   * each process that reads it.
   */
  #tried<T>(open: AdmittedRecord, carried: DeliveryState | undefined, make: () => T): T | undefined {
    try {
      return make()
    } catch (error) {
      const { logger, metrics, settle } = this.#deps
      const { message, stack } = error as Error
      metrics.recordFailures.inc({})
      logger.error(
        { ...positionOf(open.record), error: message, stack },
        'event not processed because of a bug in hookline (report this line); the event is dead-lettered with the reason "undecodable": replay it when the bug is fixed',
      )
      settle.refused(open, 'undecodable', { carried })
      return undefined
    }
  }

  #plan(event: Event, carried: DeliveryState | undefined): Plan {
    const { payload, routing } = this.#deps
    const isRouted = carried !== undefined && carried.destination !== noDestination
    const routed = isRouted ? undefined : route(event, routing())
    const isDelivered = routed === undefined || (routed.kind === 'deliver' && routed.destinations.length > 0)
    const body = isDelivered ? Buffer.from(bodyOf(event.message, payload())) : undefined
    return { event, head: headOf(event), route: routed, body }
  }

  #carryOut(open: AdmittedRecord, plan: Plan, carried: DeliveryState | undefined): void {
    const { event, route: routed } = plan
    if (routed === undefined) {
      this.#deliver(open, plan, undefined, carried as DeliveryState)
      return open.release()
    }
    const { settle } = this.#deps
    const first = carried ?? this.#firstOf(open.record, event)
    if (routed.kind === 'dead_lettered') return this.#holdUnrouted(open, event, first, routed.reason)
    open.countRouted()
    open.countEarlierResults()
    const done = open.earlierDone
    const isLeft = (destination: string | undefined): boolean =>
      destination === undefined || !done.includes(destination)
    for (const drop of routed.drops) {
      if (!isLeft(drop.destination)) continue
      open.countAdmitted(drop.destination ?? noDestination)
      settle.dropped(open, event, drop)
    }
    const orderKey = keyOf(event.message)
    for (const destination of routed.destinations)
      if (isLeft(destination.id)) this.#deliverFirst(open, plan, orderKey, first, destination)
    open.release()
  }

  #deliverFirst(
    of: AdmittedRecord,
    plan: Plan,
    orderKey: string | undefined,
    first: DeliveryState,
    { id, policy }: Destination,
  ): void {
    this.#deps.results.totals.admitted++
    of.countAdmitted(id)
    const { ordering, window } = effectivePolicy(policy, this.#deps.delivery)
    const deadline = epochMs(Math.min(first.deadline, first.startedAt + window))
    // If the event was deferred until its destination was known, its delivery starts now. The event
    // may have been read before the destination was created. With the time of that read, the
    // delivery would count as one of an earlier destination with the same id.
    const startedAt = first.deferrals > 0 ? this.#deps.clock.now() : first.startedAt
    const carried = { ...first, destination: id, deferrals: 0, startedAt, deadline, reason: '' }
    this.#deliver(of, plan, ordering === 'key' ? orderKey : undefined, carried)
  }

  /** The initial delivery state, the same for all destinations of an event. */
  #firstOf(record: LogRecord, { message }: Event): DeliveryState {
    const { clock, delivery } = this.#deps
    const first = firstOrigin(record)
    const isReplayed = first !== record
    const origin = isReplayed ? { ...positionOf(record), timestamp: first.timestamp } : record
    const state = initialState(origin, noDestination, message.messageId, clock.now(), delivery.window)
    return isReplayed ? { ...state, round: 1 } : state
  }

  /**
   * Defers an event with an unknown source or destination. This process may know them soon, because
   * processes apply a changed configuration up to a minute apart.
   */
  #holdUnrouted(open: AdmittedRecord, event: Event, carried: DeliveryState, reason: UnroutedReason): void {
    const { clock, policy, settle } = this.#deps
    const deferral = deferUnrouted(carried, policy, clock.now())
    if (deferral !== undefined) return settle.unrouted(open, deferral)
    settle.refused(open, reason, { carried: { ...namesIn(event), origin: carried.origin }, event })
  }

  /** Enqueues a delivery without the event, which can then be garbage-collected. */
  #deliver(of: AdmittedRecord, { head, body }: Plan, orderKey: string | undefined, carried: DeliveryState): void {
    if (body === undefined) return
    const { starter } = this.#deps
    of.retain()
    of.processor.routed(of.record, carried.destination)
    const target = starter.stateOf(carried.destination)
    starter.enqueue({ target, of, event: head, body, orderKey, carried })
  }
}

function namesIn({ destinationId, message }: Event): Partial<DeliveryState> {
  return { messageId: message.messageId, ...(destinationId !== undefined && { destination: destinationId }) }
}

const positionOf = ({ topic, partition, offset }: LogRecord) => ({ topic, partition, offset })
