import { encodeMarks, type UserMarks } from '../../core/deletion/marks.ts'
import type { Cancel, Clock, LogProducer, LogRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'

/** What is acknowledged is read back within a second; a topic that cannot be followed for so long is in trouble. */
const readBackLimit = durationMs(10_000)
/** By which a writer knows its own record. */
const writeHeader = 'write'

export type ChangeMarks = (marks: UserMarks | undefined) => UserMarks | undefined

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly clock: Clock
  /** What is known of a user; the same object for as long as no other record is read. */
  readonly held: (userId: string) => UserMarks | undefined
}

interface Write {
  readonly userId: string
  readonly change: ChangeMarks
  /** What the change was made of. */
  readonly before: UserMarks | undefined
  readonly end: (error: Error | undefined) => void
}

/**
 * Writes marks that depend on those before. Kafka has no write on a condition, and two processes may change the same user at once; but all
 * read the same order. So a writer reads its own record back: where another one stands between it and what it was made of, the change is
 * made again of that one.
 */
export class MarkWrites {
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
    this.#write({ userId, change, before: this.#deps.held(userId), end })
    return promise
  }

  /** Whether a record is one of ours that was overtaken: what was held before it still holds, and is written again with our change. */
  isLost(userId: string, { headers }: LogRecord): boolean {
    const id = headers[writeHeader] ?? ''
    const own = this.#underWay.get(id)
    if (own === undefined) return false
    this.#underWay.delete(id)
    const held = this.#deps.held(userId)
    const isLost = held !== own.before
    if (isLost) this.#write({ ...own, before: held })
    else own.end(undefined)
    return isLost
  }

  #write(write: Write): void {
    const { producer, topic, clock } = this.#deps
    const { userId, change, before, end } = write
    const after = change(before)
    if (before === undefined && after === undefined) return end(undefined)
    const id = clock.id()
    this.#underWay.set(id, write)
    const value = after === undefined ? null : Buffer.from(encodeMarks(after))
    producer.append(topic, { key: Buffer.from(userId), value, headers: { [writeHeader]: id } }, error => {
      if (error === undefined) return
      this.#underWay.delete(id)
      end(error)
    })
  }
}
