import { RateLimiter } from '../flow/rate-limiter.ts'
import { clientNetworkOf } from '../network/client-network.ts'

/** Wrong keys that one client address may send immediately, and then per second. */
const ofAddress = { burst: 10, perSecond: 0.1 }
/** The same for all client addresses together. */
const ofAll = { burst: 100, perSecond: 1 }
/** Addresses that are remembered, the latest ones. */
const maxAddresses = 1_000

interface Client {
  readonly limiter: RateLimiter
  /** It has sent a right key. */
  isKnown: boolean
}

function limiterFor({ burst, perSecond }: typeof ofAddress, now: number): RateLimiter {
  const burstMs = (burst * 1_000) / perSecond
  return new RateLimiter(burstMs, now - burstMs)
}

/**
 * Limits how often keys can be guessed. A client address that sent too many wrong keys has to wait; when all addresses together did, so has
 * every address that has not sent a right key before. Memory is bounded: an address is forgotten when 1,000 others came after it.
 */
export class FailureThrottle {
  readonly #clients = new Map<string, Client>()
  readonly #all: RateLimiter

  /** Times in milliseconds of one monotonic clock. */
  constructor(now: number) {
    this.#all = limiterFor(ofAll, now)
  }

  /** Whole seconds until a key of this address is looked at; 0: now. */
  secondsToWait(address: string, now: number): number {
    const client = this.#clients.get(clientNetworkOf(address) ?? address)
    const own = client?.limiter.secondsToWaitFor(1, ofAddress.perSecond, now) ?? 0
    return own > 0 || client?.isKnown === true ? own : this.#all.secondsToWaitFor(1, ofAll.perSecond, now)
  }

  failed(address: string, now: number): void {
    this.#all.spend(1, ofAll.perSecond, now)
    this.#clientOf(address, now).limiter.spend(1, ofAddress.perSecond, now)
  }

  succeeded(address: string, now: number): void {
    this.#clientOf(address, now).isKnown = true
  }

  #clientOf(address: string, now: number): Client {
    const network = clientNetworkOf(address) ?? address
    const client = this.#clients.get(network) ?? { limiter: limiterFor(ofAddress, now), isKnown: false }
    this.#clients.delete(network)
    this.#clients.set(network, client)
    for (const oldest of this.#clients.keys()) {
      if (this.#clients.size <= maxAddresses) break
      this.#clients.delete(oldest)
    }
    return client
  }
}
