import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock } from '../../core/ports.ts'

const { newSchemaWait, newSchemaWaitEvery } = flowLimits.admission

/**
 * Time in milliseconds for which the codec does not look up a schema id again, after the registry
 * has responded that it does not have this id.
 */
const unknownForMs = 30_000
/** The maximum number of unknown ids that the codec remembers; it forgets the oldest first. */
const maxRemembered = 10_000
/**
 * An id is implausible if it is higher than the highest known id plus this number. Registries
 * number their schemas consecutively, so an implausible id most likely comes from a value that is
 * not Avro.
 */
const plausibleLead = 1_000_000
/** A new id is higher than the highest known id, by at most this number. */
const newLead = 1_000
/**
 * The rate limit of look-ups of implausible ids (see `plausibleLead`): a burst of 20, then one per
 * second.
 */
const implausible = { burst: 20, perMs: 1 / 1_000 }

/**
 * Decides which schema ids to look up in the registry, and remembers ids that the registry does not
 * have. Values that are not Avro contain bytes that look like random ids. They must not flood the
 * registry with requests.
 */
export class UnknownSchemaIds {
  readonly #clock: Pick<Clock, 'monotonic'>
  /**
   * For each unknown id, the monotonic time in ms until which the codec does not look it up. The
   * oldest entry comes first.
   */
  readonly #until = new Map<number, number>()
  #highestKnown: number
  /**
   * The number of look-ups of implausible ids that are allowed now. It is the content of a token
   * bucket: a look-up takes a token, and `implausible.perMs` tokens are added per millisecond.
   */
  #tokens = implausible.burst
  #refilledAt: number
  /** When the last wait for new ids began, in monotonic milliseconds. */
  #waitBegan = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonic'>, knownId: number) {
    this.#clock = clock
    this.#highestKnown = knownId
    this.#refilledAt = clock.monotonic()
  }

  noteKnown(id: number): void {
    this.#until.delete(id)
    // The registry has a new schema. More may follow, so the next new id may begin another wait
    // (see `isAwaited`) without the pause of a minute. Random ids of values that are not Avro never
    // become known, so they do not end this pause.
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

  /** Whether the registry said within the last 30 s that it does not know the id. */
  has(id: number): boolean {
    return this.#clock.monotonic() < (this.#until.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /**
   * Returns whether the codec must look up this id again, although the registry does not have it.
   * This is so for ids that are probably new, during a wait of 10 s. The first new id begins the
   * wait, and all other new ids share it. If none of them becomes known, the next wait begins at
   * the earliest a minute after the start of this one. So random ids of values that are not Avro
   * can pause a partition for at most 10 s per minute.
   */
  isAwaited(id: number): boolean {
    if (id <= this.#highestKnown || id > this.#highestKnown + newLead || this.#until.has(id)) return false
    const now = this.#clock.monotonic()
    if (now >= this.#waitBegan + newSchemaWaitEvery) this.#waitBegan = now
    return now < this.#waitBegan + newSchemaWait
  }

  /**
   * The reason not to ask the registry for this id now; `undefined` when a look-up is allowed. If
   * the id is implausible (see `plausibleLead`), an allowed look-up takes a token.
   */
  refusal(id: number): string | undefined {
    const now = this.#clock.monotonic()
    if (this.has(id)) return 'the schema registry does not have this id'
    if (id > 0 && id <= this.#highestKnown + plausibleLead) return undefined
    if (id <= 0) return 'a schema id must be greater than 0'
    this.#tokens = Math.min(implausible.burst, this.#tokens + (now - this.#refilledAt) * implausible.perMs)
    this.#refilledAt = now
    if (this.#tokens < 1)
      return 'hookline did not look up this id, because the id is far above all known ids, and too many look-ups of unknown ids have failed'
    this.#tokens--
    return undefined
  }
}
