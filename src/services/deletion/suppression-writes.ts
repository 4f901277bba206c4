import { encodeSuppressions, type SuppressionIndex, type UserSuppressions } from '../../core/deletion/suppressions.ts'
import type { Cancel, Clock, LogProducer, LogRecord } from '../../core/ports.ts'
import { notReadBack, readBackLimit } from '../read-own-record-timeout.ts'

/** Header with the id of a write, by which the writer recognises its record. */
const writeHeader = 'write'
/**
 * Header with the offset of the user's previous record, on which the new record is based; -1
 * without a previous record.
 */
export const basedOnHeader = 'made-of'

export type ChangeSuppressions = (suppressions: UserSuppressions | undefined) => UserSuppressions | undefined

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly clock: Clock
  /**
   * `get` returns the same object for a user until another record of the user is read. So the
   * writer notices another record by comparing objects.
   */
  readonly index: Pick<SuppressionIndex, 'get' | 'offsetOf'>
}

interface Write {
  readonly id: string
  readonly userId: string
  readonly change: ChangeSuppressions
  /**
   * The value on which the change is based. If another record changes the value before the written
   * record is read back, the change is repeated.
   */
  readonly before: UserSuppressions | undefined
  readonly end: (error: Error | undefined) => void
}

/**
 * Creates the error for a record that was not read back in time. It has the fields of the Kafka
 * adapter's errors, because Kafka is the cause.
 */
const readBackTooLate = (topic: string): Error =>
  Object.assign(new Error(notReadBack(topic)), { code: 'NOT_READ_BACK', retriable: true })

/**
 * Changes a user's record with optimistic concurrency: the writer reads its record back. If another
 * process wrote in between, the writer makes its change again. If the writer crashes before this,
 * `basedOnHeader` shows readers that the later record is not based on the earlier one. The readers
 * then merge both changes.
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
      // The writer gives up: it does not check the record if it reads it back later. Readers then
      // merge the record with a concurrent change, as if the writer had crashed.
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
   * Handles a record of this process that was read back. `previous` is the user's value before this
   * record. If the change was not based on `previous`, usually because another process wrote in
   * between, applies the change to `previous` and writes the result. The current value would be
   * wrong: it merges both records, so it may have suppressions that the other process removed. The
   * current value is used only if `previous` is `undefined`, or while the partition is read again.
   */
  readBack(userId: string, { headers }: LogRecord, previous: UserSuppressions | undefined, index: Deps['index']): void {
    const id = headers[writeHeader] ?? ''
    const own = this.#inProgress.get(id)
    if (own === undefined) return
    this.#inProgress.delete(id)
    // If `index` is another one, the partition is being read again. Then apply the change to the
    // current value: `previous` may lack suppressions from records that Kafka has lost.
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
