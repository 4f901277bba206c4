import {
  type Attempt,
  beforeAttempt,
  type Decision,
  decide,
  defer,
  mustBeAttempted,
  unconfigured,
  webhooksToCall,
} from '../../core/delivery/decide.ts'
import type { DeferralCause } from '../../core/delivery/outcome.ts'
import type { Places } from '../../core/delivery/places.ts'
import type { Routing } from '../../core/delivery/route.ts'
import type { RetryPolicy } from '../../core/delivery/schedule.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { PayloadSettings } from '../../core/settings.ts'
import { keptTraceIdOf } from '../../core/trace/context.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import { durationMs, type EpochMs } from '../../core/units.ts'
import type { Marks } from '../deletion/marks.ts'
import type { Shard } from '../partitions/shard.ts'
import { createAttemptLog, type LogAttempt } from './attempt-log.ts'
import type { RecordAttempt } from './attempt-records.ts'
import { traceAttempt } from './attempt-trace.ts'
import type { BegunAttempt, MakeAttempt, OnAttemptEnd } from './attempts.ts'
import { tellBreaker } from './breaker-news.ts'
import { observeDelay } from './delays.ts'
import { type Delivery, type DestinationLane, receivedAtOf } from './delivery.ts'
import { createFollowUp } from './follow-up.ts'
import { isHeldUpByOthers, type Open, routeOf } from './lane-route.ts'
import { Lanes } from './lanes.ts'
import { createPump, type Step } from './pump.ts'
import { Relief } from './relief.ts'
import type { Settle } from './settle.ts'

interface Deps {
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly policy: RetryPolicy
  readonly places: Places
  readonly makeAttempt: MakeAttempt
  readonly settle: Settle
  readonly marks: Pick<Marks, 'size' | 'stops' | 'isCurrent'>
  readonly clock: Clock
  /** For how long the oldest of all records that are taken up is not done, in milliseconds. */
  readonly oldestOpenMs: () => number
  /** Until when the process was out of CPU, in monotonic milliseconds. */
  readonly outOfCpuUntil: () => number
  readonly metrics: Metrics
  readonly logger: Logger
  /** Undefined: nobody keeps records of attempts. */
  readonly recordAttempt?: RecordAttempt | undefined
  readonly tracer?: Tracer | undefined
}

/** The pump: takes deliveries from the lanes while there is room for calls, asks core what is to be done, has it carried out. */
export class Dispatcher {
  readonly #deps: Deps
  readonly #lanes: Lanes
  /** Taken from their lanes and not to be started for now, in order; their keys hold back who comes after them. */
  #held: Delivery[] = []
  #isOpen = true
  #underWay = 0
  readonly #logAttempt: LogAttempt
  readonly #relief: Relief
  /** Starts what may be started. */
  readonly pump: () => void
  /** A call or a delivery of the lane has ended: a place is free for whoever waited for one, or the next one of a key is ready. */
  readonly goOn: (lane: DestinationLane) => void

  readonly #onAttemptEnd: OnAttemptEnd = (begun, attempt) => this.#attempted(begun, attempt)

  constructor(deps: Deps) {
    this.#deps = deps
    this.#lanes = new Lanes(deps.places)
    this.#logAttempt = createAttemptLog(deps)
    const moveOn = (delivery: Delivery): void => this.#moveOn(delivery, 'lane_full')
    const mayMove = ({ carried }: Delivery): boolean => !mustBeAttempted(carried, deps.clock.now())
    this.#relief = new Relief({ ...deps, lanes: this.#lanes, moveOn, mayMove, isOpen: () => this.#isOpen })
    this.pump = createPump(deps.clock, () => this.#startNext())
    this.goOn = createFollowUp(deps.clock, ended => {
      this.#lanes.unblock(ended)
      this.pump()
    })
  }

  /** Deliveries whose calls or copies are under way. */
  get underWay(): number {
    return this.#underWay
  }

  /** Of a destination, one for as long as the process lives. */
  laneOf(destination: string): DestinationLane {
    return this.#lanes.of(destination)
  }

  enqueue(delivery: Delivery): void {
    this.#lanes.push(delivery)
  }

  #startNext(): ReturnType<Step> {
    const { places, marks } = this.#deps
    const delivery = this.#isOpen && places.processHasRoom ? this.#lanes.take() : undefined
    if (delivery === undefined) return undefined
    const before = places.inFlight
    if (delivery.of.shard.revoked) this.#lanes.dropped(delivery)
    else if (delivery.of.shard.mayStart && marks.isCurrent()) this.#start(delivery)
    else this.#held.push(delivery)
    return places.inFlight > before ? 0 : 1
  }

  /** Looks again at what was held back: its partition may be given up after all, or not; who was deleted may be known again. */
  release(): void {
    this.#restoreHeld()
    this.pump()
  }

  #restoreHeld(): void {
    const held = this.#held
    this.#held = []
    // Each goes before those that were put back already, so that they come out in the order they had.
    for (const delivery of held.reverse()) this.#lanes.restore(delivery)
  }

  /**
   * A partition is given to another process, and nothing of it is in progress. What waits for it goes to the next owner, whom the commit tells
   * which destinations are done. Where the commit has no room for that, the rest of the record is deferred, so that nothing is repeated.
   */
  handOver(shard: Shard): void {
    const { uncovered } = shard.tracker
    if (uncovered.size === 0) return
    this.#restoreHeld()
    const isWanted = ({ of }: Delivery): boolean => uncovered.has(of.record.offset)
    for (const lane of this.#lanes.all)
      for (const delivery of this.#lanes.takeOut(lane, shard, Number.POSITIVE_INFINITY, isWanted))
        this.#moveOn(delivery, 'handover')
    this.pump()
  }

  /** Whether partitions are to look further ahead than their calls need. */
  get isClogged(): boolean {
    return this.#relief.isClogged
  }

  /** What a partition that has reached its limits holds of slow lanes moves on. */
  relieve(shard: Shard): void {
    this.#relief.relieve(shard)
  }

  /** Starts no attempt from now on. */
  close(): void {
    this.#isOpen = false
  }

  #start(delivery: Delivery): void {
    const stopped = this.#stopped(delivery)
    if (stopped !== undefined) return this.#finish(delivery, { kind: 'dropped', reason: stopped })
    const route = routeOf(delivery.lane, this.#deps)
    switch (route.kind) {
      case 'dropped':
        return this.#finish(delivery, { kind: 'dropped', reason: route.reason })
      case 'dead_lettered':
        return this.#finish(delivery, unconfigured(delivery.carried, this.#deps.policy, this.#deps.clock.now()))
      case 'deliver':
        return this.#startWhenDue(delivery, route)
    }
  }

  /** Asked before every attempt: a retry that waited may be of a user who was deleted meanwhile. */
  #stopped(delivery: Delivery): ReturnType<Marks['stops']> {
    const { marks, clock } = this.#deps
    if (marks.size === 0) return undefined
    const { message, sourceId } = delivery.event
    const { userId, type } = message
    return marks.stops({ userId, sourceId, receivedAt: receivedAtOf(delivery), type }, clock.now())
  }

  #startWhenDue(delivery: Delivery, route: Open): void {
    const { clock, policy } = this.#deps
    const now = clock.now()
    const due = beforeAttempt(delivery.carried, route.isPaused, policy, now)
    switch (due.kind) {
      case 'attempt':
        return this.#attempt(delivery, route, now)
      case 'wait':
        this.#lanes.ended(delivery)
        this.goOn(delivery.lane)
        clock.after(durationMs(due.until - now), () => {
          this.#lanes.push(delivery)
          this.pump()
        })
        return
      default:
        return this.#finish(delivery, due)
    }
  }

  #attempt(delivery: Delivery, { callees, callMaker }: Open, now: EpochMs): void {
    const { places, clock, policy, makeAttempt, tracer } = this.#deps
    const { lane } = delivery
    const startedAt = clock.monotonic()
    if (lane.breaker.refuses(startedAt) && !mustBeAttempted(delivery.carried, now)) {
      const climbs = !lane.breaker.isProbing
      return this.#finish(delivery, defer(delivery.carried, 'breaker_open', policy, now, { climbs }))
    }
    const webhooks = webhooksToCall(callees, delivery.carried)
    const called = places.callable(lane, webhooks)
    if (called.webhooks.length === 0 && webhooks.length > 0) return this.#lanes.putBack(delivery)
    const isProbe = lane.breaker.begins(startedAt)
    this.#underWay++
    delivery.of.shard.started()
    const trace = tracer && traceAttempt(tracer, delivery)
    observeDelay(this.#deps.metrics, delivery, now, trace && keptTraceIdOf(trace.context))
    const begun = { ...called, delivery, callMaker, at: now, startedAt, isProbe, trace }
    makeAttempt(begun, this.#onAttemptEnd)
  }

  #attempted(begun: BegunAttempt, attempt: Attempt): void {
    const { clock, policy } = this.#deps
    const { delivery, startedAt, trace } = begun
    const endedAt = clock.monotonic()
    this.#underWay--
    tellBreaker(this.#deps, begun, attempt, endedAt)
    const decision = decide(attempt, delivery.carried, policy, clock.now())
    trace?.end(decision)
    this.#logAttempt(delivery, attempt, decision, endedAt - startedAt)
    this.#finish(delivery, decision)
    delivery.of.shard.ended()
  }

  #finish(delivery: Delivery, decision: Decision): void {
    this.#underWay++
    this.#deps.settle.delivery(delivery, decision, () => {
      this.#underWay--
      this.#lanes.ended(delivery)
      this.goOn(delivery.lane)
    })
  }

  /** Moves a delivery that waited to a retry topic; it was not under way, so that nobody waits for its end. */
  #moveOn(delivery: Delivery, cause: DeferralCause): void {
    const { clock, policy, places, settle } = this.#deps
    // A hand-over says nothing about the endpoint, nor does a permit that others hold: the next wait is no longer for it.
    const climbs = cause !== 'handover' && !isHeldUpByOthers(delivery.lane, places)
    this.#underWay++
    settle.delivery(delivery, defer(delivery.carried, cause, policy, clock.now(), { climbs }), () => {
      this.#underWay--
    })
  }
}
