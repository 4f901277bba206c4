import { type Attempt, beforeAttempt, type Decision, decide, webhooksToCall } from '../../core/delivery/decide.ts'
import type { Places } from '../../core/delivery/places.ts'
import { type Routing, routeParked } from '../../core/delivery/route.ts'
import type { RetryPolicy } from '../../core/delivery/schedule.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { Destination } from '../../core/settings.ts'
import { durationMs } from '../../core/units.ts'
import type { MakeAttempt } from './attempts.ts'
import type { Delivery } from './delivery.ts'
import { Lanes } from './lanes.ts'
import type { Settle } from './settle.ts'

/** Of the attempts that delivered, one in so many is logged at info, the others at debug. */
const logOneIn = 1_000

interface Deps {
  readonly routing: () => Routing
  readonly policy: RetryPolicy
  readonly places: Places
  readonly makeAttempt: MakeAttempt
  readonly settle: Settle
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** The pump: takes deliveries from the lanes while there is room for calls, asks core what is to be done, has it carried out. */
export class Dispatcher {
  readonly #deps: Deps
  readonly #lanes = new Lanes()
  #isOpen = true
  #isPumping = false
  #underWay = 0
  #delivered = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Deliveries whose calls or copies are under way. */
  get underWay(): number {
    return this.#underWay
  }

  enqueue(delivery: Delivery): void {
    this.#lanes.push(delivery)
  }

  /** Starts what may be started; called whenever something was enqueued or has ended. */
  pump(): void {
    // What ends at once (a drop) asks for more from within: the loop that runs already goes on, without a deeper stack.
    if (this.#isPumping) return
    this.#isPumping = true
    while (this.#isOpen && this.#deps.places.processHasRoom) {
      const delivery = this.#lanes.take()
      if (delivery === undefined) break
      if (delivery.of.shard.revoked) this.#lanes.ended(delivery)
      else this.#start(delivery)
    }
    this.#isPumping = false
  }

  /** A call has ended: its place is free for whoever waited for one. */
  onCallEnd(): void {
    this.#lanes.unblock()
    this.pump()
  }

  /** Starts no attempt from now on. */
  close(): void {
    this.#isOpen = false
  }

  #start(delivery: Delivery): void {
    const routed = routeParked(delivery.carried.destination, this.#deps.routing())
    switch (routed.kind) {
      case 'dropped':
        return this.#finish(delivery, routed)
      case 'dead_lettered':
        return this.#finish(delivery, { ...routed, carried: delivery.carried })
      case 'deliver':
        return this.#startWhenDue(delivery, routed.destination)
    }
  }

  #startWhenDue(delivery: Delivery, destination: Destination): void {
    const { clock, policy } = this.#deps
    const now = clock.now()
    const due = beforeAttempt(delivery.carried, destination.paused, policy, now)
    switch (due.kind) {
      case 'attempt':
        return this.#attempt(delivery, destination)
      case 'wait':
        this.#lanes.ended(delivery)
        clock.after(durationMs(due.until - now), () => {
          this.#lanes.push(delivery)
          this.pump()
        })
        return
      default:
        return this.#finish(delivery, due)
    }
  }

  #attempt(delivery: Delivery, destination: Destination): void {
    const { places, clock, policy, makeAttempt } = this.#deps
    const webhooks = webhooksToCall(destination, delivery.carried)
    const callable = webhooks.filter(webhook => places.hasRoom(webhook))
    if (callable.length === 0 && webhooks.length > 0) return this.#lanes.block(delivery)
    this.#observeDelay(delivery)
    this.#underWay++
    const startedAt = clock.monotonic()
    const leftOut = webhooks.length - callable.length
    makeAttempt(delivery, destination, callable, leftOut, attempt => {
      this.#underWay--
      const decision = decide(attempt, delivery.carried, policy, clock.now())
      this.#logAttempt(delivery, attempt, decision, clock.monotonic() - startedAt)
      this.#finish(delivery, decision)
      this.pump()
    })
  }

  #finish(delivery: Delivery, decision: Decision): void {
    this.#underWay++
    this.#deps.settle.delivery(delivery, decision, () => {
      this.#underWay--
      this.#lanes.ended(delivery)
      this.pump()
    })
  }

  #observeDelay({ carried, of }: Delivery): void {
    const { clock, metrics } = this.#deps
    const now = clock.now()
    if (carried.attempt === 0) metrics.firstAttemptDelay.observe({}, Math.max(0, now - of.record.timestamp) / 1000)
    else metrics.retryLateness.observe({}, Math.max(0, now - carried.notBefore) / 1000)
  }

  /** The one wide line of an attempt: whoever asks what happened to a message finds it here. */
  #logAttempt({ carried, event }: Delivery, attempt: Attempt, decision: Decision, elapsedMs: number): void {
    const { clock, logger } = this.#deps
    const isSample = decision.kind === 'delivered' && this.#delivered++ % logOneIn === 0
    const facts = {
      decision: decision.kind,
      ...('reason' in decision && { reason: decision.reason }),
      ...(decision.kind === 'retried' && { nextAttemptInMs: decision.carried.notBefore - clock.now() }),
      destination: carried.destination,
      source: event.sourceId,
      messageId: carried.messageId,
      type: event.message.type,
      attempt: attempt.number,
      outcomes: Object.fromEntries(attempt.calls.map(call => [call.webhook.label, call.outcome])),
      elapsedMs: Math.round(elapsedMs),
    }
    if (decision.kind !== 'delivered' || isSample) logger.info(facts, 'delivery attempted')
    else logger.debug(facts, 'delivery attempted')
  }
}
