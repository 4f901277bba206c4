import { evidenceOf } from '../../core/auto-disable/failure-counter.ts'
import {
  type Attempt,
  type Decision,
  decide,
  decideBeforeAttempt,
  decideUnconfigured,
  defer,
  deferUnresponsive,
  forgetRemovedWebhooks,
  mustBeAttempted,
  webhooksToCall,
} from '../../core/delivery/decide.ts'
import { endPausedTime } from '../../core/delivery/paused-time.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import { isOfEarlierDestination } from '../../core/delivery/route.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import type { ResultCounts } from '../../core/live-status/result-counts-of-this-process.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { durationMs, type EpochMs } from '../../core/time.ts'
import { sampledTraceIdOf } from '../../core/trace/context.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { FailureWatch } from '../auto-disable/failure-watch.ts'
import type { DestinationObserver } from '../notices/facts-seen-by-this-process.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { observeDelay } from './attempt-delay-metrics.ts'
import { createAttemptLog, type LogAttempt } from './attempt-log.ts'
import type { AttemptRecords } from './attempt-records.ts'
import { traceAttempt } from './attempt-trace.ts'
import type { Authorize } from './authorized-transport.ts'
import { createBoundedLoop, type Step } from './bounded-loop.ts'
import { updateCircuitBreaker } from './circuit-breaker-update.ts'
import { coalesce } from './collect-items-per-tick.ts'
import type { ConnectingRequests } from './connecting-requests.ts'
import type { Delivery, DestinationState } from './delivery.ts'
import { type DeliverPlan, planOf } from './destination-delivery-plan.ts'
import { DestinationLimits, type LimitsDeps } from './destination-limits.ts'
import { DestinationQueues } from './destination-queues.ts'
import type { MakeAttempt, OnAttemptEnd, StartedAttempt } from './make-attempt.ts'
import type { Settle } from './settle.ts'
import { updateSlowDown } from './slow-down-update.ts'
import { UnattemptedDeliveries } from './spill-or-hand-over-deliveries.ts'
import { SpilloverController } from './spillover-controller.ts'
import { type DeletedUsers, stoppedByDeletion } from './stopped-by-deletion.ts'

interface Deps extends Omit<LimitsDeps, 'wake'> {
  /** The global schedule and retry window, for deliveries whose destination is not configured. */
  readonly policy: RetryPolicy
  readonly limiter: ConcurrencyLimiter
  readonly connecting: Pick<ConnectingRequests, 'mayStart'>
  readonly authorize: Authorize
  readonly makeAttempt: MakeAttempt
  readonly settle: Settle
  readonly results: ResultCounts
  readonly suppressions: DeletedUsers
  readonly clock: Clock
  /** Returns how long the oldest record of this process has been in progress, in milliseconds. */
  readonly oldestInProgressMs: () => number
  /** Returns when the process last lacked CPU, in monotonic milliseconds; `-Infinity`: never. */
  readonly cpuSaturatedUntil: () => number
  readonly metrics: Metrics
  readonly logger: Logger
  readonly observer: DestinationObserver
  /**
   * Counts failed attempts, after which Hookline may disable a destination; `undefined` without a
   * config topic.
   */
  readonly failures: Pick<FailureWatch, 'attempted'> | undefined
  /** `undefined` when attempts are not recorded. */
  readonly attemptRecords: AttemptRecords | undefined
  /** `undefined` when attempts are not traced. */
  readonly tracer: Tracer | undefined
}

/**
 * Takes deliveries from the queues while the process has permits. Attempts each delivery, or
 * settles it without an attempt.
 */
export class AttemptStarter {
  readonly #deps: Deps
  readonly #limits: DestinationLimits
  readonly #queues: DestinationQueues
  /**
   * Deliveries that may not start, in the order in which they left their queues. Their partition is
   * being revoked or may belong to another process, or the suppressions are not current. `release`
   * returns the deliveries to their queues.
   */
  #held: Delivery[] = []
  #isOpen = true
  #inProgress = 0
  readonly #logAttempt: LogAttempt
  readonly #spillover: SpilloverController
  readonly #leaving: UnattemptedDeliveries
  /** Starts all deliveries that may start, after some were enqueued or a permit became free. */
  readonly dispatch: () => void
  /**
   * Called when a request or delivery of a destination has ended. Called with `undefined` when only
   * the number of connecting requests has become smaller, so that another request may connect.
   */
  readonly noteEnded: (target: DestinationState | undefined) => void

  readonly #onAttemptEnd: OnAttemptEnd = (begun, attempt) => this.#attempted(begun, attempt)

  constructor(deps: Deps) {
    const { clock, limiter, logger, attemptRecords, oldestInProgressMs, cpuSaturatedUntil } = deps
    this.#deps = deps
    const wake = (target: DestinationState): void => {
      this.#queues.wake(target)
      this.dispatch()
    }
    this.#limits = new DestinationLimits({ ...deps, wake })
    this.#queues = new DestinationQueues(limiter, this.#limits, deps.results)
    this.#logAttempt = createAttemptLog({ clock, logger, attemptRecords })
    this.#leaving = new UnattemptedDeliveries({ ...deps, limits: this.#limits })
    this.#spillover = new SpilloverController({
      clock,
      oldestInProgressMs,
      cpuSaturatedUntil,
      queues: this.#queues,
      defer: (delivery, mayWaitLonger) => this.#leaving.spill(delivery, mayWaitLonger),
      hasOtherDestinations: () => deps.routing().destinations.size > 1,
      isOpen: () => this.#isOpen,
    })
    this.dispatch = createBoundedLoop(clock, () => this.#startNext())
    this.noteEnded = coalesce(clock, ended => {
      this.#queues.unblock(ended)
      this.dispatch()
    })
  }

  /** Number of deliveries with a request or an append in progress. */
  get inProgress(): number {
    return this.#inProgress + this.#leaving.inProgress
  }

  /** Returns the state of a destination. It is created at the first call, and never removed. */
  stateOf(destination: string): DestinationState {
    return this.#queues.of(destination)
  }

  /** The state of a destination; `undefined` before its first delivery. */
  findState(destination: string): DestinationState | undefined {
    return this.#queues.find(destination)
  }

  /** The states of all destinations that have had a delivery. */
  get states(): Iterable<DestinationState> {
    return this.#queues.all
  }

  enqueue(delivery: Delivery): void {
    this.#queues.push(delivery)
  }

  #startNext(): ReturnType<Step> {
    const { limiter, suppressions } = this.#deps
    const delivery = this.#isOpen && limiter.hasCapacity ? this.#queues.take() : undefined
    if (delivery === undefined) return undefined
    const before = limiter.inFlight
    if (delivery.of.processor.revoked) this.#queues.leftToNextOwner(delivery)
    else if (delivery.of.processor.mayStart && suppressions.isCurrent()) this.#start(delivery)
    else this.#held.push(delivery)
    return limiter.inFlight > before ? 0 : 1
  }

  /**
   * Starts held and blocked deliveries that may start. Called when partitions, ownership,
   * suppressions or this process's share of the limits have changed.
   */
  release(): void {
    this.#restoreHeld()
    this.#queues.wakeAll()
    this.dispatch()
  }

  #restoreHeld(): void {
    const held = this.#held
    this.#held = []
    // In reverse order, because `restore` puts a delivery at the front of its queue.
    for (const delivery of held.reverse()) this.#queues.restore(delivery)
  }

  /**
   * Called when a partition is being revoked. If the commit metadata has no room for a record's
   * finished deliveries, the partition's next owner would repeat these deliveries. So this method
   * defers the record's queued deliveries: the record is then done, and its offset is committed.
   */
  handOver(processor: PartitionProcessor): void {
    const { uncovered } = processor.tracker
    if (uncovered.size === 0) return
    this.#restoreHeld()
    const isWanted = ({ of }: Delivery): boolean => uncovered.has(of.record.offset)
    for (const target of this.#queues.all)
      for (const delivery of this.#queues.drainMatching(target, processor, Number.POSITIVE_INFINITY, isWanted))
        this.#leaving.handOver(delivery)
    this.dispatch()
  }

  /**
   * Whether the oldest record was in progress for too long at the last check. The prefetch limits
   * are then higher, so that records for other destinations are read.
   */
  get isStalled(): boolean {
    return this.#spillover.isStalled
  }

  /**
   * Moves deliveries of slow destinations to a retry topic if the partition is at its prefetch
   * limits.
   */
  spillBacklog(processor: PartitionProcessor): void {
    this.#spillover.check(processor)
  }

  /** Prevents further attempts. */
  close(): void {
    this.#isOpen = false
  }

  #start(delivery: Delivery): void {
    const reason = stoppedByDeletion(delivery, this.#deps)
    if (reason !== undefined) return this.#finish(delivery, { kind: 'dropped', reason })
    const plan = planOf(delivery.target, this.#deps)
    const { event, carried } = delivery
    if (plan.kind === 'dead_lettered' || isOfEarlierDestination(plan.destination, event.sourceId, carried.startedAt))
      return this.#finish(delivery, decideUnconfigured(carried, this.#deps.policy, this.#deps.clock.now()))
    if (plan.kind === 'dropped') return this.#finish(delivery, { kind: 'dropped', reason: plan.reason })
    this.#startWhenDue(delivery, plan)
  }

  #startWhenDue(delivery: Delivery, plan: DeliverPlan): void {
    const { clock } = this.#deps
    const now = clock.now()
    delivery.carried = endPausedTime(delivery.carried, now)
    const hasRoom = () => delivery.of.processor.hasRoomForNotDue
    const due = decideBeforeAttempt(delivery.carried, plan.isPaused, plan.policy, now, hasRoom)
    switch (due.kind) {
      case 'attempt':
        return this.#attempt(delivery, plan, now)
      case 'wait':
        this.#queues.ended(delivery)
        this.noteEnded(delivery.target)
        clock.after(durationMs(due.until - now), () => {
          this.#queues.push(delivery)
          this.dispatch()
        })
        return
      default:
        return this.#finish(delivery, due)
    }
  }

  #attempt(delivery: Delivery, plan: DeliverPlan, now: EpochMs): void {
    const { limiter, connecting, clock, makeAttempt, tracer } = this.#deps
    const { target } = delivery
    const { preparedWebhooks, requestBuilder, policy, authorized, watchedUrlHashes } = plan
    const startedAt = clock.monotonic()
    if (target.breaker.refuses(startedAt) && !mustBeAttempted(delivery.carried, now)) {
      const isDeferralCounted = !target.breaker.isProbing
      return this.#finish(delivery, defer(delivery.carried, 'breaker_open', policy, now, { isDeferralCounted }))
    }
    const deferral = this.#limits.deferral(delivery, policy, now)
    if (deferral === 'wait') return this.#queues.restore(delivery)
    if (deferral !== undefined) return this.#finish(delivery, deferral)
    delivery.carried = forgetRemovedWebhooks(delivery.carried, preparedWebhooks)
    const webhooks = webhooksToCall(preparedWebhooks, delivery.carried)
    const below = this.#limits.belowLimit(webhooks, plan.limits)
    const isHeldUpByWebhook = below.length < webhooks.length
    if (isHeldUpByWebhook && below.length === 0)
      return this.#finish(delivery, deferUnresponsive(delivery.carried, policy, now))
    const called = limiter.callable(target, below)
    if (called.webhooks.length === 0 && below.length > 0) return this.#queues.block(delivery)
    if (!connecting.mayStart(called.webhooks, plan.destination.tlsIdentity)) {
      target.waitsForProcess = true
      return this.#queues.block(delivery)
    }
    const isProbe = target.breaker.begins(startedAt)
    this.#limits.started(target)
    target.attempts.started(delivery, startedAt)
    this.#inProgress++
    delivery.of.processor.started()
    const trace = tracer && traceAttempt(tracer, delivery)
    observeDelay(this.#deps.metrics, delivery, now, trace && sampledTraceIdOf(trace.context))
    const webhooksWithoutPermit = webhooks.length - called.webhooks.length
    const begun = { ...called, webhooksWithoutPermit, delivery, preparedWebhooks, watchedUrlHashes, policy, authorized }
    makeAttempt({ ...begun, isHeldUpByWebhook, requestBuilder, at: now, startedAt, isProbe, trace }, this.#onAttemptEnd)
  }

  #attempted(begun: StartedAttempt, attempt: Attempt): void {
    const { clock } = this.#deps
    const { delivery, policy, preparedWebhooks, watchedUrlHashes, startedAt, trace } = begun
    const endedAt = clock.monotonic()
    this.#inProgress--
    delivery.target.attempts.ended(delivery, endedAt)
    updateCircuitBreaker(this.#deps, begun, attempt, endedAt)
    if (watchedUrlHashes !== undefined)
      this.#deps.failures?.attempted(delivery.target.destination, watchedUrlHashes, evidenceOf(attempt))
    const now = clock.now()
    updateSlowDown(this.#deps, begun, attempt, { endedAt, now })
    const decision = decide(attempt, delivery.carried, policy, now, preparedWebhooks)
    if (decision.kind !== 'delivered') this.#deps.results.failed(delivery.target.results)
    trace?.end(decision)
    this.#logAttempt(delivery, attempt, decision, endedAt - startedAt)
    this.#settle(delivery, decision)
    delivery.of.processor.ended()
  }

  /** Settles a delivery without an attempt. */
  #finish(delivery: Delivery, decision: Decision): void {
    this.#deps.attemptRecords?.result(delivery, decision, this.#deps.clock.now())
    this.#settle(delivery, decision)
  }

  #settle(delivery: Delivery, decision: Decision): void {
    this.#inProgress++
    this.#deps.settle.delivery(delivery, decision, () => {
      this.#inProgress--
      this.#queues.ended(delivery)
      this.noteEnded(delivery.target)
    })
  }
}
