import type { DeliverySettings, Webhook } from '../settings.ts'
import { revealed } from '../units.ts'
import { type CallTime, PermitTime } from './permit-time.ts'

/**
 * Of the places that are free, a destination may hold a quarter as many itself: when k destinations hang, 4/(k+4) of the places stay free for
 * all others, 70 of 512 when 25 do. One that is alone takes seven eighths.
 */
const shareOfFree = 1 / 4
const shareOfFreeWhenAlone = 7

/** What a destination has of the places; 0 at first. Its lane keeps it, so that it is not looked up by name for every call. */
export interface Share {
  calls: number
}

/**
 * What one destination's calls to a webhook count towards: all calls to the webhook, all calls to its host, and what of both are the
 * destination's own. Whoever calls it keeps it, as a share.
 */
export interface Room {
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

/** How many calls may be under way at once: in the process, for one destination, to one webhook, to one host. Checked when each is taken. */
export class Places {
  readonly #caps: Pick<DeliverySettings, 'maxInFlight' | 'perWebhook' | 'perHost'>
  /** How many destinations have calls under way. */
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

  /** False: not one more call may start in this process. */
  get processHasRoom(): boolean {
    return this.#inFlight < this.#caps.maxInFlight
  }

  /** Whether one more call would leave the other destinations their share of the process. */
  leavesOthersTheirs({ calls: own }: Share): boolean {
    const others = this.#busyDestinations - (own > 0 ? 1 : 0)
    const share = others > 0 ? shareOfFree : shareOfFreeWhenAlone
    return own < share * (this.#caps.maxInFlight - this.#inFlight)
  }

  /** After a live edit a webhook is another object: what it calls is the same. */
  roomOf(webhook: Pick<Webhook, 'url'>, destination: string): Room {
    const url = revealed(webhook.url)
    const { perWebhook, perHost } = this.#caps
    // Host and port: what shares one server's capacity.
    const { host } = new URL(url)
    return {
      ofWebhook: limitOf(this.#byWebhook, url, perWebhook).of(destination),
      ofHost: limitOf(this.#byHost, host, perHost).of(destination),
    }
  }

  /** Whether a webhook's own caps leave room for one more call. */
  hasRoom({ ofWebhook, ofHost }: Room): boolean {
    return ofWebhook.hasRoom && ofHost.hasRoom
  }

  /** Whether the limit is used up by other destinations: this one has less than its fair share. */
  isTakenByOthers({ ofWebhook, ofHost }: Room): boolean {
    return (!ofWebhook.hasRoom && ofWebhook.isBelowShare) || (!ofHost.hasRoom && ofHost.isBelowShare)
  }

  /** Those of one attempt's webhooks that may all be called now: they may be at the same host. */
  callable<W extends { readonly room: Room }>(share: Share, webhooks: readonly W[]): Callable<W> {
    let isHeldUpByOthers = false
    const callable = webhooks.filter(({ room }) => {
      const hasRoom = this.hasRoom(room)
      if (hasRoom) this.take(share, room)
      else isHeldUpByOthers ||= room.ofWebhook.hasRoomAlone && room.ofHost.hasRoomAlone
      return hasRoom
    })
    for (const { room } of callable) this.release(share, room)
    return { webhooks: callable, leftOut: webhooks.length - callable.length, isHeldUpByOthers }
  }

  take(share: Share, { ofWebhook, ofHost }: Room): void {
    this.#inFlight++
    if (share.calls++ === 0) this.#busyDestinations++
    ofWebhook.take()
    ofHost.take()
  }

  release(share: Share, { ofWebhook, ofHost }: Room): void {
    this.#inFlight--
    if (--share.calls === 0) this.#busyDestinations--
    ofWebhook.release()
    ofHost.release()
  }

  /** A call has ended, after so many milliseconds: its permits are free. */
  ended(share: Share, room: Room, tookMs: number, now: number): void {
    this.release(share, room)
    room.ofWebhook.ended(tookMs, now)
    room.ofHost.ended(tookMs, now)
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
 * One destination's part of a shared limit. The destinations that have calls in progress there share it equally, and one more share
 * stays free for the next one: with n of them n/(n + 1) of the limit is in use. One that has it to itself takes all of it, or seven
 * eighths where others may come. While calls beyond a share are in progress, no destination gets more than what is still free.
 * In a crowd, with more destinations than permits, each has one call at a time, and the slow ones leave the last permit to the quick ones.
 */
class FairShare {
  readonly #limit: SharedLimit
  readonly #time: CallTime = { meanMs: undefined, isSlow: false }
  #calls = 0

  constructor(limit: SharedLimit) {
    this.#limit = limit
  }

  /** Whether one more call leaves the other destinations their share. */
  get hasRoom(): boolean {
    const { free, isShared } = this.#limit
    if (free <= 0) return false
    if (!isShared) return true
    if (this.#others === 0) return this.#calls < shareOfFreeWhenAlone * free
    return this.#calls < free && this.isBelowShare && this.#leavesQuickOnesTheirs
  }

  /** False for a slow one in a crowd that would take the last permit, while slow ones have half of them. */
  get #leavesQuickOnesTheirs(): boolean {
    if (!this.#time.isSlow) return true
    const { limit, free, slowCalls, permitTime } = this.#limit
    const isCrowd = this.#others + 2 > limit
    return !isCrowd || free > 1 || !permitTime.hasQuick || slowCalls < Math.max(1, Math.floor(limit / 2))
  }

  /** Whether it would have room for one more call if no other destination had calls in progress. */
  get hasRoomAlone(): boolean {
    const { limit, isShared } = this.#limit
    return isShared ? this.#calls < shareOfFreeWhenAlone * (limit - this.#calls) : this.#calls < limit
  }

  get isBelowShare(): boolean {
    const { limit } = this.#limit
    return this.#calls < Math.max(1, Math.floor(limit / (this.#others + 2)))
  }

  take(): void {
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
