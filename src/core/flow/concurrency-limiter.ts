import type { DeliverySettings, Webhook } from '../settings/settings.ts'
import { revealed } from '../units.ts'
import { flowLimits } from './limits.ts'
import { type CallTime, PermitTime } from './permit-time.ts'

const { perFreePermit, perFreePermitWhenAlone } = flowLimits.concurrency

/** A destination's calls in progress; 0 at first. Its queue keeps it: no look-up by name for each call. */
export interface DestinationCalls {
  calls: number
}

/**
 * The limits that a destination's calls to a webhook count towards: its shares of the webhook's and
 * of the host's permits. The caller keeps it.
 */
export interface Permits {
  readonly ofWebhook: FairShare
  readonly ofHost: FairShare
}

/** Of the webhooks of one attempt. */
interface Callable<W> {
  readonly webhooks: readonly W[]
  /** Those that no permit is free for. */
  readonly leftOut: number
  /** Whether one of these is left out because other destinations hold the permits: alone this one could call it too. */
  readonly isHeldUpByOthers: boolean
}

/** Limits concurrent calls: of the process, for one destination, to one webhook, to one host. */
export class ConcurrencyLimiter {
  readonly #caps: Pick<DeliverySettings, 'maxInFlight' | 'perWebhook' | 'perHost'>
  /** Destinations with calls in progress. */
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

  /** Whether one more call may start in this process. */
  get hasCapacity(): boolean {
    return this.#inFlight < this.#caps.maxInFlight
  }

  /** Whether one more call leaves the other destinations their share of the process. */
  hasFairShare({ calls: own }: DestinationCalls): boolean {
    const others = this.#busyDestinations - (own > 0 ? 1 : 0)
    const share = others > 0 ? perFreePermit : perFreePermitWhenAlone
    return own < share * (this.#caps.maxInFlight - this.#inFlight)
  }

  /** After a live edit a webhook is another object: what it calls is the same. */
  permitsOf(webhook: Pick<Webhook, 'url'>, destination: string): Permits {
    const url = revealed(webhook.url)
    const { perWebhook, perHost } = this.#caps
    // Host and port: what shares one server's capacity.
    const { host } = new URL(url)
    return {
      ofWebhook: limitOf(this.#byWebhook, url, perWebhook).of(destination),
      ofHost: limitOf(this.#byHost, host, perHost).of(destination),
    }
  }

  /** Whether one more call to the webhook has its permits. */
  hasPermit({ ofWebhook, ofHost }: Permits): boolean {
    return ofWebhook.hasPermit && ofHost.hasPermit
  }

  /** Whether the limit is used up by other destinations: this one has less than its fair share. */
  isHeldByOthers({ ofWebhook, ofHost }: Permits): boolean {
    return (!ofWebhook.hasPermit && ofWebhook.isBelowShare) || (!ofHost.hasPermit && ofHost.isBelowShare)
  }

  /** Those of one attempt's webhooks that may all be called now, also when they share a host. */
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

  /** A call has ended after `tookMs`: its permits are free. */
  ended(share: DestinationCalls, permits: Permits, tookMs: number, now: number): void {
    this.release(share, permits)
    permits.ofWebhook.ended(tookMs, now)
    permits.ofHost.ended(tookMs, now)
  }
}

/** A limit of concurrent calls that several destinations may share: that of a host, or of a webhook. */
class SharedLimit {
  readonly limit: number
  calls = 0
  /** Destinations with calls in progress. */
  busyDestinations = 0
  /** Calls in progress of destinations whose calls are slow. */
  slowCalls = 0
  readonly permitTime = new PermitTime()
  /** By destination. These come from the configuration only, they are few: each is kept for as long as the process lives. */
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

  /** Whether there may be as many destinations with calls in progress as there are permits. */
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
 * One destination's part of a shared limit. The destinations with calls in progress share the limit
 * equally, and one more share stays free for the next one: with n of them n/(n + 1) of the limit is
 * in use. A destination alone uses all of it, or seven eighths where others may come. While calls
 * beyond a share are in progress, no destination gets more than what is still free. In a crowd, with
 * more destinations than permits, each has one call at a time, and the slow ones leave the last
 * permit to the quick ones.
 */
class FairShare {
  readonly #limit: SharedLimit
  readonly #time: CallTime = { meanMs: undefined, isSlow: false }
  #calls = 0

  constructor(limit: SharedLimit) {
    this.#limit = limit
  }

  /** Whether one more call leaves the other destinations their share. */
  get hasPermit(): boolean {
    const { free, isShared } = this.#limit
    if (free <= 0) return false
    if (!isShared) return true
    if (this.#others === 0) return this.#calls < perFreePermitWhenAlone * free
    return this.#calls < free && this.isBelowShare && this.#leavesLastToQuick
  }

  /** False for a slow one in a crowd that would take the last permit, while slow ones have half of them. */
  get #leavesLastToQuick(): boolean {
    if (!this.#time.isSlow) return true
    const { limit, free, slowCalls, permitTime } = this.#limit
    const isCrowd = this.#others + 2 > limit
    return !isCrowd || free > 1 || !permitTime.hasQuick || slowCalls < Math.max(1, Math.floor(limit / 2))
  }

  /** Whether it would have a permit if no other destination had calls in progress. */
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

  /** A call that has released its permit took so long. Nobody asks for that where no crowd can be. */
  ended(tookMs: number, now: number): void {
    if (!this.#limit.mayBeCrowded) return
    const wasSlow = this.#time.isSlow
    this.#limit.permitTime.ended(this.#time, tookMs, now)
    if (this.#time.isSlow !== wasSlow) this.#limit.slowCalls += wasSlow ? -this.#calls : this.#calls
  }

  /** Other destinations with calls in progress. */
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
