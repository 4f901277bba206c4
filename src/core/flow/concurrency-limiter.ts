import { revealed } from '../secret.ts'
import type { DeliverySettings, Webhook } from '../settings/settings.ts'
import { type CallTime, CallTimes } from './call-times.ts'
import { flowLimits } from './limits.ts'

const { perFreePermit, perFreePermitWhenAlone } = flowLimits.concurrency

/**
 * The number of a destination's requests in progress. Callers keep one object for each destination,
 * so that no request needs a look-up by name.
 */
export interface DestinationCalls {
  calls: number
}

/**
 * The permits that a destination's requests to one webhook need: shares of the webhook's limit and
 * of the host's limit. The caller keeps this object.
 */
export interface PermitShares {
  readonly ofWebhook: FairShare
  readonly ofHost: FairShare
}

/** The webhooks that one attempt may call now. */
interface Callable<W> {
  readonly webhooks: readonly W[]
  /** The number of webhooks that have no free permit. */
  readonly leftOut: number
  /** Whether other destinations hold the permits of a webhook that was left out. */
  readonly isHeldUpByOthers: boolean
}

/**
 * Limits the concurrent requests of the process, of each destination, to each webhook, and to each
 * host.
 */
export class ConcurrencyLimiter {
  readonly #caps: Pick<DeliverySettings, 'maxInFlight' | 'perWebhook' | 'perHost'>
  /** The number of destinations with requests in progress. */
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
   * Whether one more request of this destination leaves the other destinations their share of the
   * process.
   */
  hasFairShare({ calls: own }: DestinationCalls): boolean {
    const others = this.#busyDestinations - (own > 0 ? 1 : 0)
    const share = others > 0 ? perFreePermit : perFreePermitWhenAlone
    return own < share * (this.#caps.maxInFlight - this.#inFlight)
  }

  /**
   * The permits of one destination for a webhook. They are found by URL, because a reload of the
   * configuration creates new `Webhook` objects.
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

  /** Whether the webhook and its host each have a free permit for one more request. */
  hasPermit({ ofWebhook, ofHost }: PermitShares): boolean {
    return ofWebhook.hasPermit && ofHost.hasPermit
  }

  /**
   * Whether other destinations use up a limit of which this destination has less than its fair
   * share.
   */
  isHeldByOthers({ ofWebhook, ofHost }: PermitShares): boolean {
    return (!ofWebhook.hasPermit && ofWebhook.isBelowShare) || (!ofHost.hasPermit && ofHost.isBelowShare)
  }

  /**
   * The webhooks of one attempt that may all be called now. Webhooks that share a limit, such as
   * that of their host, each take one permit of it.
   */
  callable<W extends { readonly permits: PermitShares }>(share: DestinationCalls, webhooks: readonly W[]): Callable<W> {
    let isHeldUpByOthers = false
    const callable = webhooks.filter(({ permits }) => {
      const hasPermit = this.hasPermit(permits)
      if (hasPermit) this.acquire(share, permits)
      else isHeldUpByOthers ||= permits.ofWebhook.hasPermitAlone && permits.ofHost.hasPermitAlone
      return hasPermit
    })
    for (const { permits } of callable) this.release(share, permits)
    return { webhooks: callable, leftOut: webhooks.length - callable.length, isHeldUpByOthers }
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
  /** The number of destinations with requests in progress. */
  busyDestinations = 0
  /** The number of requests in progress that belong to slow destinations. */
  slowCalls = 0
  readonly callTimes = new CallTimes()
  /**
   * The shares by destination id. Entries are never removed: destinations come only from the
   * configuration, so there are few.
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

  /** Whether the limit has at least as many destinations as permits, so that it may be crowded. */
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
 * One destination's share of a shared limit.
 * - The destinations with requests in progress share the limit equally, and one more share stays
 *   free for the next destination. So n destinations use n/(n + 1) of the limit.
 * - While only one destination has requests in progress, it uses the whole limit, or seven eighths
 *   of it when the limit also applies to other destinations.
 * - While one destination exceeds its share, each other one may hold about as many permits as are
 *   free.
 * - With at least as many destinations as permits (crowded), each destination has one request at a
 *   time, and slow destinations leave the last permit to quick ones.
 */
class FairShare {
  readonly #limit: SharedLimit
  readonly #time: CallTime = { meanMs: undefined, isSlow: false }
  #calls = 0

  constructor(limit: SharedLimit) {
    this.#limit = limit
  }

  /** The number of this destination's requests in progress. */
  get inProgress(): number {
    return this.#calls
  }

  /** Whether a permit is free, and one more request leaves the other destinations their share. */
  get hasPermit(): boolean {
    const { free, isShared } = this.#limit
    if (free <= 0) return false
    if (!isShared) return true
    if (this.#others === 0) return this.#calls < perFreePermitWhenAlone * free
    return this.#calls < free && this.isBelowShare && this.#leavesLastToQuick
  }

  /**
   * Whether one more request leaves the last permit of a crowded limit to quick destinations. This
   * rule applies only while slow destinations hold at least half of the permits.
   */
  get #leavesLastToQuick(): boolean {
    if (!this.#time.isSlow) return true
    const { limit, free, slowCalls, callTimes } = this.#limit
    const isCrowd = this.#others + 2 > limit
    return !isCrowd || free > 1 || !callTimes.hasQuick || slowCalls < Math.max(1, Math.floor(limit / 2))
  }

  /**
   * Whether this destination would have a permit if no other destination had requests in progress.
   */
  get hasPermitAlone(): boolean {
    const { limit, isShared } = this.#limit
    return isShared ? this.#calls < perFreePermitWhenAlone * (limit - this.#calls) : this.#calls < limit
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
   * Notes the duration of a request that has ended. Durations show which destinations are slow, and
   * that matters only when the limit has at least as many destinations as permits.
   */
  ended(tookMs: number, now: number): void {
    if (!this.#limit.mayBeCrowded) return
    const wasSlow = this.#time.isSlow
    this.#limit.callTimes.ended(this.#time, tookMs, now)
    if (this.#time.isSlow !== wasSlow) this.#limit.slowCalls += wasSlow ? -this.#calls : this.#calls
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
