import type { LogRecord, TopicFollower, TopicFollowerHandlers } from '../../../src/core/ports.ts'

export class ScriptedFollower implements TopicFollower {
  #handlers: TopicFollowerHandlers | undefined

  async start(handlers: TopicFollowerHandlers): Promise<void> {
    this.#handlers = handlers
  }

  async stop(): Promise<void> {}

  truncate(partition: number): void {
    this.#handlers?.onTruncated?.(partition)
  }

  deliver(...records: readonly LogRecord[]): void {
    for (const record of records) this.#handlers?.onRecord(record)
  }

  becomeCurrent(): void {
    this.#handlers?.onCurrent(0)
  }
}
