import type { DeliverySettings, Webhook } from '../settings.ts'

/**
 * Of the places that are free, a destination may hold a quarter as many itself: when k destinations hang, 4/(k+4) of the places stay free for
 * all others, 70 of 512 when 25 do. One that is alone takes seven eighths.
 */
const shareOfFree = 1 / 4
const shareOfFreeWhenAlone = 7

/** How many calls may be under way at once: in the process, for one destination, to one webhook, to one host. Checked when each is taken. */
export class Places {
  readonly #caps: Pick<DeliverySettings, 'maxInFlight' | 'perWebhook' | 'perHost'>
  readonly #byDestination = new Map<string, number>()
  readonly #byWebhook = new Map<string, number>()
  readonly #byHost = new Map<string, number>()
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
  hasShare(destination: string): boolean {
    const own = this.#byDestination.get(destination) ?? 0
    const others = this.#byDestination.size - (own > 0 ? 1 : 0)
    const share = others > 0 ? shareOfFree : shareOfFreeWhenAlone
    return own < share * (this.#caps.maxInFlight - this.#inFlight)
  }

  /** Whether this webhook's own caps leave room for one more call. */
  hasRoom(webhook: Webhook): boolean {
    return (
      (this.#byWebhook.get(webhook.url) ?? 0) < this.#caps.perWebhook &&
      (this.#byHost.get(hostOf(webhook)) ?? 0) < this.#caps.perHost
    )
  }

  take(destination: string, webhook: Webhook): void {
    this.#inFlight++
    add(this.#byDestination, destination, 1)
    add(this.#byWebhook, webhook.url, 1)
    add(this.#byHost, hostOf(webhook), 1)
  }

  release(destination: string, webhook: Webhook): void {
    this.#inFlight--
    add(this.#byDestination, destination, -1)
    add(this.#byWebhook, webhook.url, -1)
    add(this.#byHost, hostOf(webhook), -1)
  }
}

const hosts = new WeakMap<Webhook, string>()

/** Host and port of a webhook's URL: what shares one server's capacity. */
function hostOf(webhook: Webhook): string {
  let host = hosts.get(webhook)
  if (host === undefined) {
    host = new URL(webhook.url).host
    hosts.set(webhook, host)
  }
  return host
}

function add(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
