import { encodeRecord, type ObjectRecord } from '../../core/config-objects/object-record.ts'
import { type ApplyResult, copyOf } from '../../core/config-objects/objects-from-topic.ts'
import type { Cancel, Clock, Logger, LogProducer } from '../../core/ports.ts'
import type { SettingsProblem } from '../../core/settings/settings-problem.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import { notReadBack, readBackLimit } from '../read-own-record-timeout.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Time until this process writes the current version of an object again in two cases:
 * - Kafka has lost this version.
 * - This process wrote a later record that is ignored. Compaction would keep only that record.
 */
const shortCopyWait = durationMs(1_000)
/**
 * Time until this process writes a current version again in all other cases, for example after an
 * ignored record of another process. That process normally writes the version first.
 */
const longCopyWait = durationMs(30_000)

export type WriteResult =
  /** The record is in force. `problems` is the result of the parameter `check` of `write`. */
  | { readonly kind: 'applied'; readonly problems: readonly SettingsProblem[] }
  /** Another process wrote the same version first. */
  | { readonly kind: 'ignored' }
  /** The write failed or was not confirmed, but the record may be in force. */
  | { readonly kind: 'failed'; readonly detail: string }

interface Deps {
  readonly store: ObjectStore
  readonly producer: LogProducer
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Writes records and reads each one back, because only the log shows which of two concurrent writes
 * is in force.
 */
export class ObjectWriter {
  readonly #deps: Deps
  readonly #inProgress = new Map<string, (isApplied: boolean) => void>()
  #copyTimer: { readonly cancel: Cancel; readonly at: number } | undefined
  #isStopped = false

  constructor(deps: Deps) {
    this.#deps = deps
    deps.store.listen({
      onRecord: (record, result) => this.#onRecord(record, result),
      onDamaged: () => this.#copyAfter(longCopyWait),
      onObjectsLost: () => this.#copyAfter(shortCopyWait),
    })
    if (deps.store.allToCopy().length > 0) this.#copyAfter(longCopyWait)
  }

  /**
   * Resolves when this process has read the record back, or after 10 s. If the record is in force,
   * calls `check` before a later record can change the objects. Never rejects.
   */
  async write(record: ObjectRecord, check: () => readonly SettingsProblem[] = () => []): Promise<WriteResult> {
    const { producer, topic, clock } = this.#deps
    const { promise, resolve } = Promise.withResolvers<WriteResult>()
    const cancel = clock.after(readBackLimit, () => resolve({ kind: 'failed', detail: notReadBack(topic) }))
    this.#inProgress.set(record.writeId, isApplied =>
      resolve(isApplied ? { kind: 'applied', problems: check() } : { kind: 'ignored' }),
    )
    producer.append(topic, encodeRecord(record), error => {
      if (error !== undefined) resolve({ kind: 'failed', detail: error.message })
    })
    const result = await promise
    cancel()
    this.#inProgress.delete(record.writeId)
    return result
  }

  /** Stops the timer that writes current versions again. */
  stop(): void {
    this.#isStopped = true
    this.#copyTimer?.cancel()
  }

  #onRecord({ writeId, copy }: ObjectRecord, result: ApplyResult): void {
    const end = copy === 0 ? this.#inProgress.get(writeId) : undefined
    if (end !== undefined && result !== 'restored') end(result !== 'ignored')
    if (result === 'ignored') this.#copyAfter(end === undefined ? longCopyWait : shortCopyWait)
  }

  /**
   * Sets a timer that writes current versions again where necessary (`allToCopy`), unless a timer
   * that fires earlier is set.
   */
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
          'hookline could not write the current version of a destination, source or failure state to the config topic again (see "kind", "id" and "error"); it retries in 30 s; correct the cause within 7 days, because Kafka may delete this version later',
        )
        this.#copyAfter(longCopyWait)
      })
    }
  }
}
