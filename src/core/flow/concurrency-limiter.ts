import type { DeliverySettings, Webhook } from '../settings/settings.ts'
import { revealed } from '../units.ts'
import { flowLimits } from './limits.ts'
import { type CallTime, PermitTime } from './permit-time.ts'

const { perFreePermit, perFreePermitWhenAlone } = flowLimits.concurrency

/**
 * The number of a destination's requests in progress. The destination's queue holds this object, so
 * that no request needs a look-up by name.
 */
export interface DestinationCalls {
  calls: number
}

/**
 * The permits that a destination's requests to one webhook need: shares of the webhook's limit and
 * of the host's limit. The caller keeps this object.
 */
export interface Permits {
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
 * Limits concurrent requests of the process, of one destination, to one webhook, and to one host.
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
  permitsOf(webhook: Pick<Webhook, 'url'>, destination: string): Permits {
    const url = revealed(webhook.url)
    const { perWebhook, perHost } = this.#caps
    // Host and port identify the server whose capacity is shared.
    const { host } = new URL(url)
    return {
      ofWebhook: limitOf(this.#byWebhook, url, perWebhook).of(destination),
      ofHost: limitOf(this.#byHost, host, perHost).of(destination),
    }
  }

  /** Whether one more request to the webhook has its permits. */
  hasPermit({ ofWebhook, ofHost }: Permits): boolean {
    return ofWebhook.hasPermit && ofHost.hasPermit
  }

  /**
   * Whether other destinations use up a limit of which this destination has less than its fair
   * share.
   */
  isHeldByOthers({ ofWebhook, ofHost }: Permits): boolean {
    return (!ofWebhook.hasPermit && ofWebhook.isBelowShare) || (!ofHost.hasPermit && ofHost.isBelowShare)
  }

  /**
   * The webhooks of one attempt that may all be called now. Permits that they share count once for
   * each webhook.
   */
  callable<W extends { readonly permits: Permits }>(share: DestinationCalls, webhooks: readonly W[]): Callable<W> {
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

  acquire(share: DestinationCalls, { ofWebhook, ofHost }: Permits): void {
    this.#inFlight++
    if (share.calls++ === 0) this.#busyDestinations++
    ofWebhook.acquire()
    ofHost.acquire()
  }

  release(share: DestinationCalls, { ofWebhook, ofHost }: Permits): void {
    this.#inFlight--
    if (--share.calls === 0) this.#busyDestinations--
    ofWebhook.release()
    ofHost.release()
  }

  /** Releases the permits of a request that ended after `tookMs`. */
  ended(share: DestinationCalls, permits: Permits, tookMs: number, now: number): void {
    this.release(share, permits)
    permits.ofWebhook.ended(tookMs, now)
    permits.ofHost.ended(tookMs, now)
  }
}

/**
 * A limit of concurrent requests that several destinations may share: that of a host or of a
 * webhook.
 */
class SharedLimit {
  readonly limit: number
  calls = 0
  /** The number of destinations with requests in progress. */
  busyDestinations = 0
  /** Requests in progress of slow destinations. */
  slowCalls = 0
  readonly permitTime = new PermitTime()
  /**
   * By destination. Entries are never removed: destinations come only from the configuration, so
   * there are few.
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

  /** Whether there may be as many destinations with requests in progress as permits. */
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
 * - A destination that is alone uses the whole limit, or seven eighths of it when other
 *   destinations share the limit.
 * - While a destination exceeds its share, no destination gets more than what is still free.
 * - With more destinations than permits (crowded), each destination has one request at a time, and
 *   slow destinations leave the last permit to quick ones.
 */
class FairShare {
  readonly #limit: SharedLimit
  readonly #time: CallTime = { meanMs: undefined, isSlow: false }
  #calls = 0

  constructor(limit: SharedLimit) {
    this.#limit = limit
  }

  /** Whether one more request leaves the other destinations their share. */
  get hasPermit(): boolean {
    const { free, isShared } = this.#limit
    if (free <= 0) return false
    if (!isShared) return true
    if (this.#others === 0) return this.#calls < perFreePermitWhenAlone * free
    return this.#calls < free && this.isBelowShare && this.#leavesLastToQuick
  }

  /**
   * Whether one more request leaves the last permit of a crowded limit to quick destinations. It
   * matters only while slow destinations hold half of the permits.
   */
  get #leavesLastToQuick(): boolean {
    if (!this.#time.isSlow) return true
    const { limit, free, slowCalls, permitTime } = this.#limit
    const isCrowd = this.#others + 2 > limit
    return !isCrowd || free > 1 || !permitTime.hasQuick || slowCalls < Math.max(1, Math.floor(limit / 2))
  }

  /** Whether it would have a permit if no other destination had requests in progress. */
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
   * Notes how long a request took whose permit is released. Limits that cannot be crowded do not
   * need it.
   */
  ended(tookMs: number, now: number): void {
    if (!this.#limit.mayBeCrowded) return
    const wasSlow = this.#time.isSlow
    this.#limit.permitTime.ended(this.#time, tookMs, now)
    if (this.#time.isSlow !== wasSlow) this.#limit.slowCalls += wasSlow ? -this.#calls : this.#calls
  }

  /** Other destinations with requests in progress. */
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
