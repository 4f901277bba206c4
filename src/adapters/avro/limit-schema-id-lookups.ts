import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { Clock } from '../../core/ports.ts'

const { newSchemaWait, newSchemaWaitEvery } = flowLimits.admission

/** How long, in ms, Hookline remembers that the registry does not have an id. */
const unknownForMs = 30_000
/** Maximum number of remembered unknown ids. The oldest is forgotten first. */
const maxRemembered = 10_000
/**
 * Maximum lead of an id over the highest known id. A value whose id has a greater lead is most
 * likely not Avro, because registries number schemas consecutively.
 */
const maxPlausibleLead = 1_000_000
/** An id counts as new if it exceeds the highest known id by at most this number. */
const maxNewIdLead = 1_000
/** Limit of look-ups of ids with a lead above `maxPlausibleLead`: 20, then one per second. */
const implausible = { burst: 20, perMs: 1 / 1_000 }

/**
 * Decides which schema ids are looked up. A value that is not Avro has random bytes in place of the
 * id. Look-ups of these random ids must not flood the registry.
 */
export class UnknownSchemaIds {
  readonly #clock: Pick<Clock, 'monotonic'>
  /**
   * For each unknown id, oldest first: the monotonic time in ms until which it is not looked up.
   */
  readonly #until = new Map<number, number>()
  #highestKnown: number
  /** A token bucket: how many ids with a lead above `maxPlausibleLead` may be looked up now. */
  #tokens = implausible.burst
  #refilledAt: number
  /** When the last wait for a new id began (see `isAwaited`), in monotonic milliseconds. */
  #waitBegan = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonic'>, knownId: number) {
    this.#clock = clock
    this.#highestKnown = knownId
    this.#refilledAt = clock.monotonic()
  }

  noteKnown(id: number): void {
    this.#until.delete(id)
    // The registry has a new schema, and more may follow. Therefore `isAwaited` may return true for
    // the next new id immediately.
    if (id > this.#highestKnown) this.#waitBegan = Number.NEGATIVE_INFINITY
    this.#highestKnown = Math.max(this.#highestKnown, id)
  }

  noteUnknown(id: number): void {
    this.#until.delete(id)
    this.#until.set(id, this.#clock.monotonic() + unknownForMs)
    if (this.#until.size > maxRemembered) this.#until.delete(this.#until.keys().next().value as number)
  }

  get size(): number {
    return this.#until.size
  }

  /** Whether the registry responded within the last 30 s that it does not have the id. */
  has(id: number): boolean {
    return this.#clock.monotonic() < (this.#until.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /**
   * Whether an unknown id probably belongs to a new schema. The partition of the record with this
   * id then waits, and the id is looked up again. Random ids can cause waits of at most 10 s per
   * minute.
   */
  isAwaited(id: number): boolean {
    if (id <= this.#highestKnown || id > this.#highestKnown + maxNewIdLead || this.#until.has(id)) return false
    const now = this.#clock.monotonic()
    if (now >= this.#waitBegan + newSchemaWaitEvery) this.#waitBegan = now
    return now < this.#waitBegan + newSchemaWait
  }

  /**
   * The reason not to look up this id now; `undefined` if a look-up is allowed. An allowed look-up
   * of an id with a lead above `maxPlausibleLead` takes a token.
   */
  refusal(id: number): string | undefined {
    const now = this.#clock.monotonic()
    if (this.has(id)) return 'the schema registry does not have this id'
    if (id > 0 && id <= this.#highestKnown + maxPlausibleLead) return undefined
    if (id <= 0) return 'a schema id must be greater than 0'
    this.#tokens = Math.min(implausible.burst, this.#tokens + (now - this.#refilledAt) * implausible.perMs)
    this.#refilledAt = now
    if (this.#tokens < 1)
      return 'hookline did not look up this schema id, because it is far above all known ids, and too many look-ups of unknown ids have failed'
    this.#tokens--
    return undefined
  }
}
