import { encodeSuppressions, type SuppressionIndex, type UserSuppressions } from '../../core/deletion/suppressions.ts'
import type { Cancel, Clock, LogProducer, LogRecord } from '../../core/ports.ts'
import { notReadBack, readBackLimit } from '../read-back-limit.ts'

/** Header with the id of a write, by which the writer recognises its record. */
const writeHeader = 'write'
/**
 * Header with the offset of the user's previous record, on which this one is based; -1 when none.
 */
export const basedOnHeader = 'made-of'

export type ChangeSuppressions = (marks: UserSuppressions | undefined) => UserSuppressions | undefined

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly clock: Clock
  /** `get` returns the same object for a user until another record of the user is read. */
  readonly index: Pick<SuppressionIndex, 'get' | 'offsetOf'>
}

interface Write {
  readonly id: string
  readonly userId: string
  readonly change: ChangeSuppressions
  /**
   * The user's suppressions when the record was written. If the index has another object when the
   * record is read back, the change was based on an outdated value.
   */
  readonly before: UserSuppressions | undefined
  readonly end: (error: Error | undefined) => void
}

/** The error has the fields of the Kafka adapter's errors, because Kafka is the cause. */
const readBackTooLate = (topic: string): Error =>
  Object.assign(new Error(notReadBack(topic)), { code: 'NOT_READ_BACK', retriable: true })

/**
 * Changes a user's record with optimistic concurrency: Kafka has no conditional write, but all
 * processes read the records in the same order. So the writer reads its own record back. If another
 * process wrote a record in between, the writer makes the change again, based on that record.
 *
 * A writer may crash before that. So each record has a header with the offset of the record on
 * which it is based. A reader that finds another record between the two merges both changes
 * (`SuppressionIndex.apply`).
 */
export class SuppressionWrites {
  readonly #deps: Deps
  readonly #inProgress = new Map<string, Write>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  update(userId: string, change: ChangeSuppressions): Promise<void> {
    const { clock, topic, index } = this.#deps
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const id = clock.id()
    const cancel: Cancel = clock.after(readBackLimit, () => {
      // If the record is read back later, it is only merged, as if its writer had crashed.
      this.#inProgress.delete(id)
      reject(readBackTooLate(topic))
    })
    const end = (error: Error | undefined): void => {
      cancel()
      if (error === undefined) resolve()
      else reject(error)
    }
    this.#write({ id, userId, change, before: index.get(userId), end }, index)
    return promise
  }

  /**
   * Handles a record after it has been applied to `index`, if it belongs to a change of this
   * process. `previous` is the user's value before the record.
   * - If the change was based on `previous`, the change has ended.
   * - Otherwise another process has written in between, and the change is made again, based on
   *   `previous`. The current value is wrong, because it has suppressions again that the other
   *   process removed.
   * - The repeated change is based on the current value if the user had no previous one, or if the
   *   partition is being read again because Kafka has lost records.
   */
  readBack(userId: string, { headers }: LogRecord, previous: UserSuppressions | undefined, index: Deps['index']): void {
    const id = headers[writeHeader] ?? ''
    const own = this.#inProgress.get(id)
    if (own === undefined) return
    this.#inProgress.delete(id)
    // While the partition is read again, `previous` may lack records that Kafka has lost.
    const base = index === this.#deps.index ? previous : undefined
    if (previous === own.before) own.end(undefined)
    else this.#write({ ...own, before: index.get(userId) }, index, base)
  }

  /** Applies the change to `base`, and writes the result. */
  #write(write: Write, index: Deps['index'], base = write.before): void {
    const { producer, topic } = this.#deps
    const { id, userId, change, before, end } = write
    const after = change(base)
    if (before === undefined && after === undefined) return end(undefined)
    this.#inProgress.set(id, write)
    const value = after === undefined ? null : Buffer.from(encodeSuppressions(after))
    const headers = { [writeHeader]: id, [basedOnHeader]: String(index.offsetOf(userId) ?? -1) }
    producer.append(topic, { key: Buffer.from(userId), value, headers }, error => {
      if (error === undefined) return
      this.#inProgress.delete(id)
      end(error)
    })
  }
}
