import type { DeliverySettings, Webhook } from '../settings.ts'

/**
 * Of the places that are free, a destination may hold a quarter as many itself: when k destinations hang, 4/(k+4) of the places stay free for
 * all others, 70 of 512 when 25 do. One that is alone takes seven eighths.
 */
const shareOfFree = 1 / 4
const shareOfFreeWhenAlone = 7

/** Calls under way. */
interface Count {
  calls: number
}

/** What a destination has of the places; 0 at first. Its lane keeps it, so that it is not looked up by name for every call. */
export type Share = Count

/** What a webhook and its host have of the places. Who calls it keeps it, as a share. */
export interface Room {
  readonly ofWebhook: Count
  readonly ofHost: Count
}

/** How many calls may be under way at once: in the process, for one destination, to one webhook, to one host. Checked when each is taken. */
export class Places {
  readonly #caps: Pick<DeliverySettings, 'maxInFlight' | 'perWebhook' | 'perHost'>
  /** How many destinations have calls under way. */
  #busyDestinations = 0
  readonly #byWebhook = new Map<string, Count>()
  readonly #byHost = new Map<string, Count>()
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
  roomOf({ url }: Pick<Webhook, 'url'>): Room {
    // Host and port: what shares one server's capacity.
    const { host } = new URL(url)
    return { ofWebhook: countOf(this.#byWebhook, url), ofHost: countOf(this.#byHost, host) }
  }

  /** Whether a webhook's own caps leave room for one more call. */
  hasRoom({ ofWebhook, ofHost }: Room): boolean {
    return ofWebhook.calls < this.#caps.perWebhook && ofHost.calls < this.#caps.perHost
  }

  take(share: Share, { ofWebhook, ofHost }: Room): void {
    this.#inFlight++
    if (share.calls++ === 0) this.#busyDestinations++
    ofWebhook.calls++
    ofHost.calls++
  }

  release(share: Share, { ofWebhook, ofHost }: Room): void {
    this.#inFlight--
    if (--share.calls === 0) this.#busyDestinations--
    ofWebhook.calls--
    ofHost.calls--
  }
}

/** Keys come from the configuration only, they are few: each has one count for as long as the process lives. */
function countOf(counts: Map<string, Count>, key: string): Count {
  let count = counts.get(key)
  if (count === undefined) {
    count = { calls: 0 }
    counts.set(key, count)
  }
  return count
}
