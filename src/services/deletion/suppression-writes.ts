import { encodeSuppressions, type SuppressionIndex, type UserSuppressions } from '../../core/deletion/suppressions.ts'
import type { Cancel, Clock, LogProducer, LogRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'

/** What is acknowledged is read back within a second; a topic that cannot be followed for so long is in trouble. */
const readBackLimit = durationMs(10_000)
/** By which a writer knows its own record. */
const writeHeader = 'write'
/** Offset of the record that this one was made of; -1: there was none. */
export const madeOfHeader = 'made-of'

export type ChangeMarks = (marks: UserSuppressions | undefined) => UserSuppressions | undefined

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly clock: Clock
  /** Its marks of a user are the same object for as long as no other record of the user is read. */
  readonly index: Pick<SuppressionIndex, 'get' | 'offsetOf'>
}

interface Write {
  readonly userId: string
  readonly change: ChangeMarks
  /** What the change was made of. */
  readonly before: UserSuppressions | undefined
  readonly end: (error: Error | undefined) => void
}

/**
 * Writes marks that depend on those before. Kafka has no write on a condition, and two processes may change the same user at once; but all
 * read the same order. So a writer reads its own record back: where another one stands between it and what it was made of, the change is
 * made again of that one. A writer that dies before that leaves a record that says which one it was made of: all readers merge it with the
 * one that it did not know (`SuppressionIndex.apply`).
 */
export class SuppressionWrites {
  readonly #deps: Deps
  readonly #underWay = new Map<string, Write>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  update(userId: string, change: ChangeMarks): Promise<void> {
    const { clock, topic } = this.#deps
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const late = new Error(`${topic}: what was written is not read back within ${readBackLimit} ms`)
    const cancel: Cancel = clock.after(readBackLimit, () => reject(late))
    const end = (error: Error | undefined): void => {
      cancel()
      if (error === undefined) resolve()
      else reject(error)
    }
    this.#write({ userId, change, before: this.#deps.index.get(userId), end })
    return promise
  }

  /** Whether a record is one of ours that was overtaken: what was held before it still holds, and is written again with our change. */
  isLost(userId: string, { headers }: LogRecord): boolean {
    const id = headers[writeHeader] ?? ''
    const own = this.#underWay.get(id)
    if (own === undefined) return false
    this.#underWay.delete(id)
    const held = this.#deps.index.get(userId)
    const isLost = held !== own.before
    if (isLost) this.#write({ ...own, before: held })
    else own.end(undefined)
    return isLost
  }

  #write(write: Write): void {
    const { producer, topic, clock, index } = this.#deps
    const { userId, change, before, end } = write
    const after = change(before)
    if (before === undefined && after === undefined) return end(undefined)
    const id = clock.id()
    this.#underWay.set(id, write)
    const value = after === undefined ? null : Buffer.from(encodeSuppressions(after))
    const headers = { [writeHeader]: id, [madeOfHeader]: String(index.offsetOf(userId) ?? -1) }
    producer.append(topic, { key: Buffer.from(userId), value, headers }, error => {
      if (error === undefined) return
      this.#underWay.delete(id)
      end(error)
    })
  }
}
