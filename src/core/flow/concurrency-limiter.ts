import { revealed } from '../secret.ts'
import type { DeliverySettings, Webhook } from '../settings/settings.ts'
import { flowLimits } from './flow-control-constants.ts'
import { type PermitHoldingTime, PermitHoldingTimes } from './permit-holding-times.ts'

const { perFreePermit, perFreePermitWhenAlone } = flowLimits.concurrency

/**
 * What the limiter counts for a destination. Callers keep one object for each destination, to save
 * look-ups.
 */
export interface DestinationCalls {
  /** Number of requests in progress. */
  calls: number
  /**
   * How often the method `callable` has found a permit. This number decides which webhook the next
   * call of `callable` checks first.
   */
  turns: number
}

/**
 * A destination's shares of two limits: that of a webhook and that of the webhook's host. Each
 * request to the webhook needs a permit (a slot) from both limits.
 */
export interface PermitShares {
  readonly ofWebhook: FairShare
  readonly ofHost: FairShare
}

interface Callable<W> {
  readonly webhooks: readonly W[]
  /** The number of webhooks for which no permit is free. */
  readonly webhooksWithoutPermit: number
  /** Whether a webhook lacks a permit only because requests of other destinations hold permits. */
  readonly isHeldUpByOthers: boolean
}

/** Limits the concurrent requests in total, and for each destination, webhook and host. */
export class ConcurrencyLimiter {
  readonly #caps: Pick<DeliverySettings, 'maxInFlight' | 'perWebhook' | 'perHost'>
  /** The number of destinations with requests in progress in this process. */
  #busyDestinations = 0
  readonly #byWebhook = new Map<string, SharedLimit>()
  readonly #byHost = new Map<string, SharedLimit>()
  #inFlight = 0

  constructor(caps: Pick<DeliverySettings, 'maxInFlight' | 'perWebhook' | 'perHost'>) {
    this.#caps = caps
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether one more request may start in this process. */
  get hasCapacity(): boolean {
    return this.#inFlight < this.#caps.maxInFlight
  }

  /**
   * Whether this destination may use one more permit of the process without taking the share of
   * other destinations.
   */
  hasFairShare({ calls: own }: DestinationCalls): boolean {
    const others = this.#busyDestinations - (own > 0 ? 1 : 0)
    const share = others > 0 ? perFreePermit : perFreePermitWhenAlone
    return own < share * (this.#caps.maxInFlight - this.#inFlight)
  }

  /**
   * Returns the shares for a webhook. They are found by URL, because a reload of the configuration
   * creates new `Webhook` objects.
   */
  permitsOf(webhook: Pick<Webhook, 'url'>, destination: string): PermitShares {
    const url = revealed(webhook.url)
    const { perWebhook, perHost } = this.#caps
    // Host and port identify the server whose capacity is shared.
    const { host } = new URL(url)
    return {
      ofWebhook: limitOf(this.#byWebhook, url, perWebhook).of(destination),
      ofHost: limitOf(this.#byHost, host, perHost).of(destination),
    }
  }

  hasPermit({ ofWebhook, ofHost }: PermitShares): boolean {
    return ofWebhook.hasPermit && ofHost.hasPermit
  }

  /**
   * Whether the webhook or its host has no free permit, although this destination has less than its
   * fair share.
   */
  isHeldByOthers({ ofWebhook, ofHost }: PermitShares): boolean {
    return (!ofWebhook.hasPermit && ofWebhook.isBelowShare) || (!ofHost.hasPermit && ofHost.isBelowShare)
  }

  /**
   * Returns webhooks to which requests can start concurrently. For example, two webhooks of one
   * host need two free permits of the host. The method takes no permit.
   */
  callable<W extends { readonly permits: PermitShares }>(share: DestinationCalls, webhooks: readonly W[]): Callable<W> {
    const count = webhooks.length
    const first = count > 1 ? share.turns % count : 0
    const callable: W[] = []
    let isHeldUpByOthers = false
    for (let index = 0; index < count; index++) {
      const webhook = webhooks[(first + index) % count] as W
      const { permits } = webhook
      if (this.hasPermit(permits)) {
        this.acquire(share, permits)
        callable.push(webhook)
      } else {
        isHeldUpByOthers ||= permits.ofWebhook.hasPermitAlone && permits.ofHost.hasPermitAlone
      }
    }
    for (const { permits } of callable) this.release(share, permits)
    if (count > 1 && callable.length > 0) share.turns++
    return {
      webhooks: first === 0 ? callable : webhooks.filter(webhook => callable.includes(webhook)),
      webhooksWithoutPermit: count - callable.length,
      isHeldUpByOthers,
    }
  }

  acquire(share: DestinationCalls, { ofWebhook, ofHost }: PermitShares): void {
    this.#inFlight++
    if (share.calls++ === 0) this.#busyDestinations++
    ofWebhook.acquire()
    ofHost.acquire()
  }

  release(share: DestinationCalls, { ofWebhook, ofHost }: PermitShares): void {
    this.#inFlight--
    if (--share.calls === 0) this.#busyDestinations--
    ofWebhook.release()
    ofHost.release()
  }

  /** Releases the permits of a request that ended after `tookMs`. */
  ended(share: DestinationCalls, permits: PermitShares, tookMs: number, now: number): void {
    this.release(share, permits)
    permits.ofWebhook.ended(tookMs, now)
    permits.ofHost.ended(tookMs, now)
  }
}

/**
 * The limit of the concurrent requests to one host or one webhook. Several destinations may share
 * it.
 */
class SharedLimit {
  readonly limit: number
  calls = 0
  /** The number of destinations with requests in progress under this limit. */
  busyDestinations = 0
  /** The number of requests in progress under this limit that belong to slow destinations. */
  slowCalls = 0
  readonly holdingTimes = new PermitHoldingTimes()
  /**
   * The fair shares, by destination id. They are never removed, because the configuration limits
   * their number.
   */
  readonly #shares = new Map<string, FairShare>()

  constructor(limit: number) {
    this.limit = limit
  }

  get free(): number {
    return this.limit - this.calls
  }

  get isShared(): boolean {
    return this.#shares.size > 1
  }

  /**
   * Whether slow destinations may have to leave the last permit to quick ones (see `FairShare`).
   */
  get mayBeCrowded(): boolean {
    return this.#shares.size > 1 && this.#shares.size >= this.limit
  }

  of(destination: string): FairShare {
    let share = this.#shares.get(destination)
    if (share === undefined) {
      share = new FairShare(this)
      this.#shares.set(destination, share)
    }
    return share
  }
}

/**
 * One destination's share of a limit of concurrent requests to one webhook or host.
 * - The n destinations with requests in progress share n/(n + 1) of the limit equally.
 * - While only one of several destinations has requests in progress, it uses seven eighths of the
 *   limit.
 * - While one destination exceeds its share, each other destination starts a request only if it
 *   holds fewer permits than are free.
 * - With at least as many destinations as permits (a crowded limit), each destination has one
 *   request at a time.
 * - Under a crowded limit, slow destinations (`PermitHoldingTime.isSlow`) leave the last permit to
 *   quick destinations.
 */
class FairShare {
  readonly #limit: SharedLimit
  readonly #time: PermitHoldingTime = { meanMs: undefined, isSlow: false }
  #calls = 0
  #unanswered = 0

  constructor(limit: SharedLimit) {
    this.#limit = limit
  }

  /** The number of this destination's requests in progress. */
  get inProgress(): number {
    return this.#calls
  }

  get hasPermit(): boolean {
    const { free, isShared } = this.#limit
    if (free <= 0) return false
    if (!isShared) return true
    if (this.#others === 0) return this.#calls < perFreePermitWhenAlone * free
    return this.#calls < free && this.isBelowShare && this.#mayTakePermit
  }

  /**
   * Whether this destination may take a free permit. A slow destination may not take the last free
   * permit if about as many destinations compete as there are permits, a quick destination is among
   * them, and slow destinations hold at least half of the permits.
   */
  get #mayTakePermit(): boolean {
    if (!this.#time.isSlow) return true
    const { limit, free, slowCalls, holdingTimes } = this.#limit
    const isCrowd = this.#others + 2 > limit
    return !isCrowd || free > 1 || !holdingTimes.hasQuick || slowCalls < Math.max(1, Math.floor(limit / 2))
  }

  /**
   * Whether this destination would have a permit if no other destination had requests in progress.
   */
  get hasPermitAlone(): boolean {
    return this.hasPermitsAlone(1)
  }

  /** Like `hasPermitAlone`, for `count` further requests. */
  hasPermitsAlone(count: number): boolean {
    const { limit, isShared } = this.#limit
    const calls = this.#calls + count - 1
    return isShared ? calls < perFreePermitWhenAlone * (limit - calls) : calls < limit
  }

  get isBelowShare(): boolean {
    const { limit } = this.#limit
    return this.#calls < Math.max(1, Math.floor(limit / (this.#others + 2)))
  }

  acquire(): void {
    this.#limit.calls++
    if (this.#time.isSlow) this.#limit.slowCalls++
    if (this.#calls++ === 0) this.#limit.busyDestinations++
  }

  release(): void {
    this.#limit.calls--
    if (this.#time.isSlow) this.#limit.slowCalls--
    if (--this.#calls === 0) this.#limit.busyDestinations--
  }

  /**
   * Notes the duration of a request. The durations are needed only for `isSlow`, which is used only
   * if the limit is crowded (`mayBeCrowded`): slow destinations then leave the last permit to quick
   * ones.
   */
  ended(tookMs: number, now: number): void {
    if (!this.#limit.mayBeCrowded) return
    const wasSlow = this.#time.isSlow
    this.#limit.holdingTimes.ended(this.#time, tookMs, now)
    if (this.#time.isSlow !== wasSlow) this.#limit.slowCalls += wasSlow ? -this.#calls : this.#calls
  }

  /** The number of this destination's requests that got no response since its last response. */
  get unanswered(): number {
    return this.#unanswered
  }

  noteResponse(hasResponse: boolean): void {
    this.#unanswered = hasResponse ? 0 : this.#unanswered + 1
  }

  /** The number of other destinations with requests in progress. */
  get #others(): number {
    return this.#limit.busyDestinations - (this.#calls > 0 ? 1 : 0)
  }
}

function limitOf(limits: Map<string, SharedLimit>, key: string, limit: number): SharedLimit {
  let known = limits.get(key)
  if (known === undefined) {
    known = new SharedLimit(limit)
    limits.set(key, known)
  }
  return known
}
