import { disableRule, isOutdated } from '../../core/auto-disable/disable-rule.ts'
import { type Evidence, FailureCounter, type SeenFailures } from '../../core/auto-disable/failure-counter.ts'
import {
  type DisableRule,
  type FailureState,
  isWatched,
  judgeFailures,
  urlHashesOf,
  type Verdict,
} from '../../core/auto-disable/judge-failures.ts'
import { Semaphore } from '../../core/collections/semaphore.ts'
import { byLifecycle } from '../../core/config-objects/destination-failure-record.ts'
import type { Routing } from '../../core/delivery/route.ts'
import { createFirstFailureLog } from '../../core/logging/first-failure-log.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { AutomaticDisabling, Webhook } from '../../core/settings/settings.ts'
import { durationMs } from '../../core/time.ts'
import { changeFailures } from '../config-objects/change-failure-state.ts'
import type { ObjectStore } from '../config-objects/object-store.ts'
import type { ObjectWriter, WriteResult } from '../config-objects/object-writer.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'

/** How often a process writes its counts of failed attempts. A success is written immediately. */
const every = durationMs(5_000)
/** Maximum number of concurrent writes of failure states. */
const maxWrites = 100

/** Maximum number of entries of one destination in `#unconfirmed`. */
const maxUnconfirmed = 100

interface Deps {
  readonly store: Pick<ObjectStore, 'failures' | 'known' | 'listen'>
  readonly writer: Pick<ObjectWriter, 'write'>
  readonly routing: () => Routing
  readonly clock: Clock
  readonly logger: Logger
}

/*
 * How failed attempts become a failure state, which a success in any process ends:
 *
 * attempt --FailureCounter--every 5 s--> judgeFailures --record--> config topic --> all processes
 */

/** Counts the failures of destinations, and disables destinations as their `lifecycle` requires. */
export class FailureWatch implements PeriodicTask {
  readonly #deps: Deps
  readonly #counters = new Map<string, FailureCounter>()
  readonly #inProgress = new Set<string>()
  readonly #writes = new Semaphore(maxWrites)
  /**
   * Disablings whose write failed, by destination. Kafka may have stored the record nevertheless.
   * This process then reports the disabling when it reads the record.
   */
  readonly #unconfirmed = new Map<string, AutomaticDisabling[]>()
  readonly #task: PeriodicTask
  #onDisabled: (destination: string, disabled: AutomaticDisabling) => void = () => undefined
  readonly #note: ReturnType<typeof createFirstFailureLog>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#note = createFirstFailureLog(deps.logger, notWritten)
    this.#task = createPeriodicTask({ clock: deps.clock, firstRunAfter: every, run: () => this.#run() })
    deps.store.listen({
      onRecord: ({ kind, id }) => {
        if (kind === 'failures') this.#onRecord(id)
      },
    })
  }

  /** Sets the listener for the destinations that this process disables. */
  onDisabled(listener: (destination: string, disabled: AutomaticDisabling) => void): void {
    this.#onDisabled = listener
  }

  start(): void {
    this.#task.start()
  }

  stop(): void {
    this.#task.stop()
  }

  /**
   * Called at the end of an attempt at a destination that failures can disable. `urlHashes`: hashes
   * of the webhooks' URLs at the start of the attempt (`urlHashesOf`).
   */
  attempted(id: string, urlHashes: string, evidence: Evidence): void {
    if (evidence === 'nothing') return
    const now = this.#deps.clock.now()
    const counter = this.#counterOf(id)
    counter.setUrlHashes(urlHashes, now)
    if (evidence === 'fails') return counter.failed(now)
    counter.reset(now)
    this.#endIfOver(id)
  }

  /** Called when a webhook responded with 410 Gone. Ignored if the webhook has another URL now. */
  gone(id: string, { label, urlHash }: Pick<Webhook, 'label' | 'urlHash'>): void {
    const destination = this.#deps.routing().destinations.get(id)
    if (destination === undefined || !isWatched(destination)) return
    if (!destination.webhooks.some(webhook => webhook.label === label && webhook.urlHash === urlHash)) return
    const now = this.#deps.clock.now()
    const counter = this.#counterOf(id)
    counter.setUrlHashes(urlHashesOf(destination), now)
    // Count by `urlHash`: the label of a webhook without an id is its position, which can change.
    counter.gone(urlHash, now)
  }

  #onRecord(id: string): void {
    const state = this.#deps.store.failures.get(id)
    // Another process may have seen a success, and have ended the failure state.
    if (state?.failingSince === undefined) this.#counters.get(id)?.reset(this.#deps.clock.now())
    else this.#endIfOver(id)
    if (state?.disabled === undefined) return
    const stored = this.#unconfirmed.get(id)?.find(({ at }) => at === state.disabled?.at)
    this.#unconfirmed.delete(id)
    if (stored !== undefined) this.#report(id, stored)
  }

  #run(): typeof every {
    const { store, routing, clock } = this.#deps
    for (const [id, state] of store.failures)
      if (isOutdated(id, state, routing())) this.#counterOf(id).reset(clock.now())
    for (const [id, counter] of this.#counters) {
      if (counter.hasFailures || this.#isOver(id, counter)) void this.#settle(id)
      else if (!this.#isWatched(id)) this.#counters.delete(id)
    }
    return every
  }

  /**
   * Ends a destination's failure state if the destination's `FailureCounter` was reset after the
   * state began, for example because of a success.
   */
  #endIfOver(id: string): void {
    const counter = this.#counters.get(id)
    if (counter !== undefined && this.#isOver(id, counter)) void this.#settle(id)
  }

  #isOver(id: string, { resetAt }: FailureCounter): boolean {
    const failingSince = this.#deps.store.failures.get(id)?.failingSince
    return failingSince !== undefined && resetAt >= failingSince
  }

  /**
   * Writes what this process has seen of a destination's failures, until nothing new is left or a
   * write fails.
   */
  async #settle(id: string): Promise<void> {
    if (this.#inProgress.has(id)) return
    this.#inProgress.add(id)
    await this.#writes.acquire()
    while (await this.#write(id));
    this.#writes.release()
    this.#inProgress.delete(id)
  }

  /** Resolves with false when there was nothing to write, or the write failed. */
  async #write(id: string): Promise<boolean> {
    const { store, routing, clock } = this.#deps
    const version = store.known({ kind: 'destination', id })?.version ?? 0
    const rule = disableRule(id, version, routing())
    const counter = this.#counters.get(id)
    if (rule === undefined) return false
    counter?.setUrlHashes(rule.urls, clock.now())
    const seen = counter?.take()
    if (seen === undefined) return false
    let verdict: Verdict = { kind: 'keep' }
    const next = (before: FailureState | undefined): FailureState | undefined => {
      verdict = this.#judge(before, seen, rule)
      return 'state' in verdict ? verdict.state : undefined
    }
    const result = await changeFailures(this.#deps, { id, by: byLifecycle, next })
    if (result.kind === 'unchanged') {
      if (isWait(verdict)) this.#counterOf(id).restore(seen)
      return false
    }
    const isWritten = result.kind === 'applied'
    const disabled = disablingOf(verdict)
    // Keep the failures after a failed write, so that the next `#run` writes them.
    if (!isWritten) this.#counterOf(id).restore(seen)
    this.#note({ destination: id }, errorOf(result))
    if (disabled !== undefined) {
      if (isWritten) this.#report(id, disabled)
      else this.#unconfirmed.set(id, [...(this.#unconfirmed.get(id) ?? []), disabled].slice(-maxUnconfirmed))
    }
    return isWritten
  }

  #judge(before: FailureState | undefined, seen: SeenFailures, rule: DisableRule): Verdict {
    return judgeFailures(before, seen, rule, this.#deps.clock.now())
  }

  #report(destination: string, disabled: AutomaticDisabling): void {
    this.#onDisabled(destination, disabled)
    const { reason, failingSince } = disabled
    this.#deps.logger.warn(
      { destination, reason, failingSince: new Date(failingSince).toISOString() },
      disabledBy[reason],
    )
  }

  #counterOf(id: string): FailureCounter {
    const known = this.#counters.get(id)
    if (known !== undefined) return known
    const counter = new FailureCounter()
    this.#counters.set(id, counter)
    return counter
  }

  #isWatched(id: string): boolean {
    const destination = this.#deps.routing().destinations.get(id)
    return destination !== undefined && isWatched(destination)
  }
}

const errorOf = (result: WriteResult): string | undefined =>
  result.kind === 'ignored'
    ? 'another process changed the object concurrently'
    : result.kind === 'failed'
      ? result.detail
      : undefined

const isWait = ({ kind }: Verdict): boolean => kind === 'wait'

const disablingOf = (verdict: Verdict): AutomaticDisabling | undefined =>
  verdict.kind === 'disable' ? verdict.disabled : undefined

const notWritten =
  'hookline could not write the failure state of a destination to the config topic (see "destination" and "error"); it tries again every 5 s, and cannot disable the destination until this write succeeds'

const disabledBy = {
  failing:
    'hookline disabled a destination (see "destination") and drops its events, because no attempt has succeeded for the time in lifecycle.disableAfter: repair its endpoint, then run `hookline destinations enable`; if the endpoint has moved, change the URL of the webhook, which also enables the destination',
  gone: 'hookline disabled a destination (see "destination") and drops its events, because its webhooks respond with 410 Gone and lifecycle.onGone is "disable": to enable the destination, change the URL of a webhook, or run `hookline destinations enable`',
} as const satisfies Record<AutomaticDisabling['reason'], string>
