import { encodeKey, type StatusKey } from '../../core/live-status/status-record.ts'
import { createFirstFailureLog } from '../../core/logging/first-failure-log.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Logger, LogProducer } from '../../core/ports.ts'

export interface StatusAppenderDeps {
  readonly producer: LogProducer
  readonly topic: string
  readonly metrics: Pick<Metrics, 'statusRecords'>
  readonly logger: Logger
}

/**
 * Writes records of the status topic. Callers allow only one write in progress per key, to keep the
 * values in order.
 */
export class StatusAppender {
  readonly #deps: StatusAppenderDeps
  readonly #inProgress = new Set<string>()
  readonly #note: ReturnType<typeof createFirstFailureLog>

  constructor(deps: StatusAppenderDeps) {
    this.#deps = deps
    this.#note = createFirstFailureLog(deps.logger, notWritten)
  }

  isWriting(key: StatusKey): boolean {
    return this.#inProgress.has(encodeKey(key))
  }

  /**
   * Writes a value, or a tombstone for `undefined`. If `onWritten` is not called, the write has
   * failed, and the caller must write again.
   */
  write(key: StatusKey, value: string | undefined, onWritten: () => void = () => undefined): void {
    const { producer, topic, metrics } = this.#deps
    const text = encodeKey(key)
    this.#inProgress.add(text)
    const record = { key: Buffer.from(text), value: value === undefined ? null : Buffer.from(value), headers: {} }
    producer.append(topic, record, error => {
      this.#inProgress.delete(text)
      metrics.statusRecords.inc({ result: error === undefined ? 'written' : 'failed' })
      this.#note({ topic }, error?.message)
      if (error === undefined) onWritten()
    })
  }
}

const notWritten =
  'this process could not write its status to the status topic (see "error"); it tries again every 5 s; until a try succeeds, the operator API may omit this process and its rates'
