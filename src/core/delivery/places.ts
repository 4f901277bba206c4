import type { DeliverySettings, Webhook } from '../settings.ts'

/** How many calls may be under way at once: in the process, to one webhook, to one host. Checked when each call is taken. */
export class Places {
  readonly #caps: Pick<DeliverySettings, 'maxInFlight' | 'perWebhook' | 'perHost'>
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

  /** Whether this webhook's own caps leave room for one more call. */
  hasRoom(webhook: Webhook): boolean {
    return (
      (this.#byWebhook.get(webhook.url) ?? 0) < this.#caps.perWebhook &&
      (this.#byHost.get(hostOf(webhook)) ?? 0) < this.#caps.perHost
    )
  }

  take(webhook: Webhook): void {
    this.#inFlight++
    add(this.#byWebhook, webhook.url, 1)
    add(this.#byHost, hostOf(webhook), 1)
  }

  release(webhook: Webhook): void {
    this.#inFlight--
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
