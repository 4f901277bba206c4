import type { Clock } from '../../core/ports.ts'

/** How long the codec treats a schema id as unknown after the registry did not know it. */
const unknownForMs = 30_000
/** The maximum number of unknown ids that the codec remembers; it forgets the oldest first. */
const maxRemembered = 10_000
/**
 * The maximum difference between a plausible id and the highest known id. Registries number their
 * schemas consecutively, so a higher id most likely comes from a value that is not Avro.
 */
const plausibleLead = 1_000_000
/**
 * The rate limit of look-ups for ids beyond `plausibleLead`: a burst of 20, then one per second.
 */
const implausible = { burst: 20, perMs: 1 / 1_000 }

/**
 * Decides for which schema ids to ask the registry, and remembers ids that the registry does not
 * have. Values that are not Avro contain random ids, which must not flood the registry with
 * requests.
 */
export class UnknownSchemaIds {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** The monotonic time until which each id counts as unknown; the oldest entry comes first. */
  readonly #until = new Map<number, number>()
  #highestKnown: number
  /**
   * The number of look-ups for ids beyond `plausibleLead` that are allowed now (a token bucket).
   */
  #tokens = implausible.burst
  #refilledAt: number

  constructor(clock: Pick<Clock, 'monotonic'>, knownId: number) {
    this.#clock = clock
    this.#highestKnown = knownId
    this.#refilledAt = clock.monotonic()
  }

  noteKnown(id: number): void {
    this.#until.delete(id)
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
   * The reason not to ask the registry for this id now; `undefined` when a look-up is allowed. An
   * allowed look-up of an id far above all known ids (`plausibleLead`) takes a token.
   */
  refusal(id: number): string | undefined {
    const now = this.#clock.monotonic()
    if (this.has(id)) return 'the registry does not have this id'
    if (id > 0 && id <= this.#highestKnown + plausibleLead) return undefined
    if (id <= 0) return 'schema ids are positive'
    this.#tokens = Math.min(implausible.burst, this.#tokens + (now - this.#refilledAt) * implausible.perMs)
    this.#refilledAt = now
    if (this.#tokens < 1)
      return 'it was not looked up, because it is far above all known ids, and too many look-ups have failed'
    this.#tokens--
    return undefined
  }
}
