import { copyOf, type FoldResult } from '../../core/config-objects/fold.ts'
import { encodeRecord, type ObjectRecord } from '../../core/config-objects/object-record.ts'
import type { Cancel, Clock, Logger, LogProducer } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Maximum time until this process reads its own record back. Usually it takes less than a second.
 */
const readBackLimit = durationMs(10_000)
/**
 * Time until the writer of an ignored record writes the copy that must follow it. Several writes of
 * one object then need one copy.
 */
const copyOwnAfter = durationMs(1_000)
/** Time until a process writes the copy for the ignored record of another process. */
const copyOthersAfter = durationMs(30_000)

export type WriteResult =
  | { readonly kind: 'applied' }
  /** Another writer was faster. */
  | { readonly kind: 'ignored' }
  /** The record may be in force nevertheless. */
  | { readonly kind: 'failed'; readonly detail: string }

interface Deps {
  readonly store: ObjectStore
  readonly producer: LogProducer
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Writes records of configuration objects, and reads each one back: only the log shows which of two
 * concurrent writes is in force (`fold.ts`).
 */
export class ObjectWriter {
  readonly #deps: Deps
  readonly #inProgress = new Map<string, (result: WriteResult) => void>()
  #copyTimer: { readonly cancel: Cancel; readonly at: number } | undefined
  #isStopped = false

  constructor(deps: Deps) {
    this.#deps = deps
    deps.store.listen({ onRecord: (record, result) => this.#onRecord(record, result) })
    if (deps.store.allToCopy().length > 0) this.#copyAfter(copyOthersAfter)
  }

  /** Resolves when this process has read the record back, or after 10 s. Never rejects. */
  async write(record: ObjectRecord): Promise<WriteResult> {
    const { producer, topic, clock } = this.#deps
    const { promise, resolve } = Promise.withResolvers<WriteResult>()
    const late = `${topic}: the record was not read back within ${readBackLimit} ms`
    const cancel = clock.after(readBackLimit, () => resolve({ kind: 'failed', detail: late }))
    this.#inProgress.set(record.writeId, resolve)
    producer.append(topic, encodeRecord(record), error => {
      if (error !== undefined) resolve({ kind: 'failed', detail: error.message })
    })
    const result = await promise
    cancel()
    this.#inProgress.delete(record.writeId)
    return result
  }

  /** Writes no more copies. */
  stop(): void {
    this.#isStopped = true
    this.#copyTimer?.cancel()
  }

  #onRecord({ writeId, copy }: ObjectRecord, result: FoldResult): void {
    const end = copy === 0 ? this.#inProgress.get(writeId) : undefined
    if (end !== undefined && result !== 'restored') end({ kind: result === 'ignored' ? 'ignored' : 'applied' })
    if (result === 'ignored') this.#copyAfter(end === undefined ? copyOthersAfter : copyOwnAfter)
  }

  /** Writes the needed copies after `wait`, or earlier if an earlier timer is set. */
  #copyAfter(wait: DurationMs): void {
    const { clock } = this.#deps
    const at = clock.monotonic() + wait
    if (this.#isStopped || (this.#copyTimer !== undefined && this.#copyTimer.at <= at)) return
    this.#copyTimer?.cancel()
    this.#copyTimer = { at, cancel: clock.after(wait, () => this.#writeCopies()) }
  }

  #writeCopies(): void {
    const { store, producer, topic, logger } = this.#deps
    this.#copyTimer = undefined
    for (const name of store.allToCopy()) {
      const known = store.known(name)
      if (known === undefined) continue
      producer.append(topic, encodeRecord(copyOf(known)), error => {
        if (error === undefined) return
        logger.warn(
          { topic, ...name, error: error.message },
          'the copy that protects the last change of a configuration object from compaction was not written; hookline tries again',
        )
        this.#copyAfter(copyOthersAfter)
      })
    }
  }
}
