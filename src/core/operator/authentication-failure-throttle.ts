import { RateLimiter } from '../flow/rate-limiter.ts'
import { clientNetworkOf } from '../network/client-network.ts'

/** Failed authentications that one client address may make: a burst, then a rate per second. */
const ofAddress = { burst: 10, perSecond: 0.1 }
/**
 * Failed authentications that all client addresses together may make: a burst, then a rate per
 * second.
 */
const ofAll = { burst: 100, perSecond: 1 }
/**
 * Maximum number of entries in each of three lists: addresses with wrong keys, addresses with a
 * valid key, and sessions. The least recently used entry is forgotten first.
 */
const maxRemembered = 1_000

function limiterFor({ burst, perSecond }: typeof ofAddress, now: number): RateLimiter {
  const burstMs = (burst * 1_000) / perSecond
  return new RateLimiter(burstMs, now - burstMs)
}

/**
 * Limits how fast a client can guess operator keys. A client address that sent too many wrong keys
 * must wait. When all addresses together sent too many, every address that never sent a valid key
 * must wait. All IPv6 addresses of one network count as one (`clientNetworkOf`). To limit the
 * memory, the throttle remembers only the last 1,000 addresses with wrong keys. A separate list has
 * the last 1,000 addresses with a valid key, so that wrong keys cannot make the throttle forget the
 * operators.
 *
 * A session token that was valid before is checked without a wait: nobody can guess it, because it
 * has a random id. Every other token must wait like a key. Otherwise a client could test a guessed
 * key without a wait: it would sign a token with a secret derived from the guessed key, and the
 * response would show whether the guess is right.
 */
export class FailureThrottle {
  /** The limiters of the addresses that have sent wrong keys. */
  readonly #limiters = new Map<string, RateLimiter>()
  /** The addresses that have sent a valid key. */
  readonly #validAddresses = new Set<string>()
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
    const network = clientOf(address)
    const own = this.#limiters.get(network)?.secondsToWaitFor(1, ofAddress.perSecond, now) ?? 0
    return own > 0 || this.#validAddresses.has(network) ? own : this.#all.secondsToWaitFor(1, ofAll.perSecond, now)
  }

  /**
   * Notes a wrong key, or a token that is not valid. A token that was valid before is not a guess:
   * its key was removed. This failure does not count, but the token must wait like every other
   * token from now on.
   */
  failed(address: string, now: number, session?: string): void {
    if (session !== undefined && this.#sessions.delete(session)) return
    // While `#all` makes addresses wait, only keys from addresses that have sent a valid key before
    // are checked. Wrong keys from these addresses do not make the other addresses wait longer.
    if (this.#all.secondsToWaitFor(1, ofAll.perSecond, now) === 0) this.#all.spend(1, ofAll.perSecond, now)
    const network = clientOf(address)
    const limiter = this.#limiters.get(network) ?? limiterFor(ofAddress, now)
    limiter.spend(1, ofAddress.perSecond, now)
    this.#limiters.delete(network)
    this.#limiters.set(network, limiter)
    forgetOldest(this.#limiters)
  }

  succeeded(address: string, session?: string): void {
    remember(this.#validAddresses, clientOf(address))
    if (session !== undefined) remember(this.#sessions, session)
  }
}

const clientOf = (address: string): string => clientNetworkOf(address) ?? address

function remember(used: Set<string>, entry: string): void {
  used.delete(entry)
  used.add(entry)
  forgetOldest(used)
}

/** Deletes the entries that were set or added first, until the maximum number is left. */
function forgetOldest(used: Set<string> | Map<string, unknown>): void {
  for (const oldest of used.keys()) {
    if (used.size <= maxRemembered) return
    used.delete(oldest)
  }
}
