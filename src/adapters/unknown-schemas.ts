import type { Clock } from '../core/ports.ts'

/** How long a schema id that the registry does not know is not asked for again. */
const unknownForMs = 30_000
/** How many of them are remembered; the oldest go first. */
const maxRemembered = 10_000
/**
 * Registries number their schemas one after the other. An id that is ahead of all known ones by more
 * than this most likely comes from bytes that are not a record.
 */
const plausibleLead = 1_000_000
/** How many implausible ids are asked for all the same: 20 immediately, then one a second. */
const implausible = { burst: 20, perMs: 1 / 1_000 }

/** Remembers schema ids that the registry does not know, and decides which ids to ask it for. */
export class UnknownSchemas {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** In the order in which they were noted. */
  readonly #until = new Map<number, number>()
  #highestKnown: number
  #questions = implausible.burst
  #countedAt: number

  constructor(clock: Pick<Clock, 'monotonic'>, knownId: number) {
    this.#clock = clock
    this.#highestKnown = knownId
    this.#countedAt = clock.monotonic()
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

  /** By an answer of the registry that is not old yet. */
  has(id: number): boolean {
    return this.#clock.monotonic() < (this.#until.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /** Why an id is not asked for now; undefined: it is. */
  refusal(id: number): string | undefined {
    const now = this.#clock.monotonic()
    if (this.has(id)) return 'the registry does not know it'
    if (id > 0 && id <= this.#highestKnown + plausibleLead) return undefined
    if (id <= 0) return 'no schema has such an id'
    this.#questions = Math.min(implausible.burst, this.#questions + (now - this.#countedAt) * implausible.perMs)
    this.#countedAt = now
    if (this.#questions < 1) return 'it is far from all known ids, and too many of that kind are unknown'
    this.#questions--
    return undefined
  }
}
