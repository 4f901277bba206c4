import { clientNetworkOf } from './client-network.ts'
import { TokenBucket } from './collector/token-bucket.ts'

/** Wrong keys that one client address may send immediately, and then per second. */
const ofAddress = { burst: 10, perSecond: 0.1 }
/** The same for all client addresses together. */
const ofAll = { burst: 100, perSecond: 1 }
/** Addresses that are remembered, the latest ones. */
const maxAddresses = 1_000

interface Client {
  readonly bucket: TokenBucket
  /** It has sent a right key. */
  isKnown: boolean
}

/**
 * Limits how often keys can be guessed. A client address that sent too many wrong keys has to wait; when all addresses together did, so has
 * every address that has not sent a right key before. Memory is bounded: an address is forgotten when 1,000 others came after it.
 */
export class FailureThrottle {
  readonly #clients = new Map<string, Client>()
  readonly #all: TokenBucket

  /** Times in milliseconds of one monotonic clock. */
  constructor(now: number) {
    this.#all = new TokenBucket(ofAll.perSecond, now, ofAll.burst)
  }

  /** Whole seconds until a key of this address is looked at; 0: now. */
  secondsToWait(address: string, now: number): number {
    const client = this.#clients.get(clientNetworkOf(address) ?? address)
    const own = client?.bucket.secondsToWaitFor(1, now) ?? 0
    return own > 0 || client?.isKnown === true ? own : this.#all.secondsToWaitFor(1, now)
  }

  failed(address: string, now: number): void {
    this.#all.spend(1, now)
    this.#clientOf(address, now).bucket.spend(1, now)
  }

  succeeded(address: string, now: number): void {
    this.#clientOf(address, now).isKnown = true
  }

  #clientOf(address: string, now: number): Client {
    const network = clientNetworkOf(address) ?? address
    const client = this.#clients.get(network) ?? {
      bucket: new TokenBucket(ofAddress.perSecond, now, ofAddress.burst),
      isKnown: false,
    }
    this.#clients.delete(network)
    this.#clients.set(network, client)
    for (const oldest of this.#clients.keys()) {
      if (this.#clients.size <= maxAddresses) break
      this.#clients.delete(oldest)
    }
    return client
  }
}
