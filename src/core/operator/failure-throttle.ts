import { RateLimiter } from '../flow/rate-limiter.ts'
import { clientNetworkOf } from '../network/client-network.ts'

/** Failed authentications that one client address may make: a burst, then a rate per second. */
const ofAddress = { burst: 10, perSecond: 0.1 }
/**
 * Failed authentications that all client addresses together may make: a burst, then a rate per
 * second.
 */
const ofAll = { burst: 100, perSecond: 1 }
/** How many client addresses are remembered; the least recently used one is forgotten first. */
const maxAddresses = 1_000
/** How many sessions are remembered; the one that was remembered first is forgotten first. */
const maxSessions = 1_000

interface Client {
  readonly limiter: RateLimiter
  /** Whether a client at this address has sent a valid key. */
  isKnown: boolean
}

function limiterFor({ burst, perSecond }: typeof ofAddress, now: number): RateLimiter {
  const burstMs = (burst * 1_000) / perSecond
  return new RateLimiter(burstMs, now - burstMs)
}

/**
 * Limits how fast a client can guess operator keys. A client address that sent too many wrong keys
 * must wait. When all addresses together sent too many, every address that never sent a valid key
 * must wait. All IPv6 addresses of one network count as one (`clientNetworkOf`). To limit the
 * memory, only the last 1,000 addresses are remembered.
 *
 * A session token that was valid before is checked without a wait: nobody can guess it, because it
 * has a random id. Every other token must wait like a key. Otherwise a client could sign a token
 * with a secret derived from a guessed key, and the response would show whether the guess is right.
 */
export class FailureThrottle {
  readonly #clients = new Map<string, Client>()
  /**
   * The tokens of sessions that this process has found valid before. They are checked without a
   * wait.
   */
  readonly #sessions = new Set<string>()
  readonly #all: RateLimiter

  /** @param now in milliseconds of a monotonic clock, as in all methods of this class */
  constructor(now: number) {
    this.#all = limiterFor(ofAll, now)
  }

  /**
   * Whole seconds until a key or the token of a session from this address is checked; 0 when it is
   * checked now.
   */
  secondsToWait(address: string, now: number, session?: string): number {
    if (session !== undefined && this.#sessions.has(session)) return 0
    const client = this.#clients.get(clientNetworkOf(address) ?? address)
    const own = client?.limiter.secondsToWaitFor(1, ofAddress.perSecond, now) ?? 0
    return own > 0 || client?.isKnown === true ? own : this.#all.secondsToWaitFor(1, ofAll.perSecond, now)
  }

  failed(address: string, now: number): void {
    this.#all.spend(1, ofAll.perSecond, now)
    this.#clientOf(address, now).limiter.spend(1, ofAddress.perSecond, now)
  }

  succeeded(address: string, now: number, session?: string): void {
    this.#clientOf(address, now).isKnown = true
    if (session === undefined) return
    this.#sessions.add(session)
    for (const oldest of this.#sessions) {
      if (this.#sessions.size <= maxSessions) break
      this.#sessions.delete(oldest)
    }
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
