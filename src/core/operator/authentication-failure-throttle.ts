import { RateLimiter } from '../flow/token-bucket-with-debt.ts'
import { clientNetworkOf } from '../network/client-network.ts'

/** Failed authentications that one client address may make: a burst, then a rate per second. */
const limitPerAddress = { burst: 10, perSecond: 0.1 }
/** Failed authentications that all client addresses together may make. */
const limitForAll = { burst: 100, perSecond: 1 }
/** Maximum entries in each list of the throttle; the least recently used is forgotten first. */
const maxRemembered = 1_000

function limiterFor({ burst, perSecond }: typeof limitPerAddress, now: number): RateLimiter {
  const burstMs = (burst * 1_000) / perSecond
  return new RateLimiter(burstMs, now - burstMs)
}

/**
 * Limits how fast clients can guess operator keys:
 * - An address that sent too many wrong keys must wait.
 * - If all addresses together sent too many wrong keys, every address that never sent a valid key
 *   must wait.
 * - A session token must wait like a key until this process has found it valid. Otherwise, a client
 *   could test a guessed key with a session token that it makes from this key.
 */
export class FailureThrottle {
  readonly #limiters = new Map<string, RateLimiter>()
  /**
   * The addresses that have sent a valid key. This list is separate from `#limiters`, so that wrong
   * keys from many addresses cannot displace its entries.
   */
  readonly #validAddresses = new Set<string>()
  /**
   * The session tokens that this process has found valid before. They never wait, because nobody
   * can guess their random ids.
   */
  readonly #sessions = new Set<string>()
  readonly #all: RateLimiter

  /** @param now in milliseconds of a monotonic clock */
  constructor(now: number) {
    this.#all = limiterFor(limitForAll, now)
  }

  /**
   * Whole seconds until a key or session token from this address is checked; 0 when it is checked
   * now.
   */
  secondsToWait(address: string, now: number, session?: string): number {
    if (session !== undefined && this.#sessions.has(session)) return 0
    const network = clientOf(address)
    const own = this.#limiters.get(network)?.secondsToWaitFor(1, limitPerAddress.perSecond, now) ?? 0
    return own > 0 || this.#validAddresses.has(network)
      ? own
      : this.#all.secondsToWaitFor(1, limitForAll.perSecond, now)
  }

  /**
   * Notes a wrong key or token. A token that was valid before does not count, because only the
   * removal of its key made it wrong.
   */
  failed(address: string, now: number, session?: string): void {
    if (session !== undefined && this.#sessions.delete(session)) return
    // While `#all` makes other addresses wait, the `#validAddresses` may still send keys. Their
    // wrong keys must not extend the wait.
    if (this.#all.secondsToWaitFor(1, limitForAll.perSecond, now) === 0) this.#all.spend(1, limitForAll.perSecond, now)
    const network = clientOf(address)
    const limiter = this.#limiters.get(network) ?? limiterFor(limitPerAddress, now)
    limiter.spend(1, limitPerAddress.perSecond, now)
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

/** Deletes the oldest entries, so that at most `maxRemembered` stay. */
function forgetOldest(used: Set<string> | Map<string, unknown>): void {
  for (const oldest of used.keys()) {
    if (used.size <= maxRemembered) return
    used.delete(oldest)
  }
}
