import type { LogProducer, OutgoingRecord } from '../../../src/core/ports.ts'

interface Appended {
  readonly topic: string
  readonly record: OutgoingRecord
  readonly onAck: (error: Error | undefined) => void
}

export class ScriptedProducer implements LogProducer {
  readonly waiting: Appended[] = []
  readonly #appended: Appended[] = []

  append(topic: string, record: OutgoingRecord, onAck: (error: Error | undefined) => void): void {
    const appended = { topic, record, onAck }
    this.waiting.push(appended)
    this.#appended.push(appended)
  }

  records(topic: string): readonly OutgoingRecord[] {
    return this.#appended.filter(each => each.topic === topic).map(({ record }) => record)
  }

  /** Acknowledges the oldest `count` records, by default all, or reports `error` for them. */
  answer(error?: Error, count = this.waiting.length): void {
    for (const { onAck } of this.waiting.splice(0, count)) onAck(error)
  }

  async flush(): Promise<void> {}
  async stop(): Promise<void> {}
}
