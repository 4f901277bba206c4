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

/** What a destination has of the places. Its lane keeps it, so that it is not looked up by name for every call. */
export type Share = Count

interface Counts {
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
  readonly #known = new WeakMap<Webhook, Counts>()
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

  /** Of one destination, which must have no other. */
  newShare(): Share {
    return { calls: 0 }
  }

  /** Whether one more call would leave the other destinations their share of the process. */
  leavesOthersTheirs({ calls: own }: Share): boolean {
    const others = this.#busyDestinations - (own > 0 ? 1 : 0)
    const share = others > 0 ? shareOfFree : shareOfFreeWhenAlone
    return own < share * (this.#caps.maxInFlight - this.#inFlight)
  }

  /** Whether this webhook's own caps leave room for one more call. */
  hasRoom(webhook: Webhook): boolean {
    const { ofWebhook, ofHost } = this.#countsOf(webhook)
    return ofWebhook.calls < this.#caps.perWebhook && ofHost.calls < this.#caps.perHost
  }

  take(share: Share, webhook: Webhook): void {
    const { ofWebhook, ofHost } = this.#countsOf(webhook)
    this.#inFlight++
    if (share.calls++ === 0) this.#busyDestinations++
    ofWebhook.calls++
    ofHost.calls++
  }

  release(share: Share, webhook: Webhook): void {
    const { ofWebhook, ofHost } = this.#countsOf(webhook)
    this.#inFlight--
    if (--share.calls === 0) this.#busyDestinations--
    ofWebhook.calls--
    ofHost.calls--
  }

  /** After a live edit a webhook is another object: what it calls is the same. */
  #countsOf(webhook: Webhook): Counts {
    let counts = this.#known.get(webhook)
    if (counts === undefined) {
      // Host and port: what shares one server's capacity.
      const { host } = new URL(webhook.url)
      counts = { ofWebhook: countOf(this.#byWebhook, webhook.url), ofHost: countOf(this.#byHost, host) }
      this.#known.set(webhook, counts)
    }
    return counts
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
