import type { LogProducer, OutgoingRecord } from '../../../src/core/ports.ts'

interface Appended {
  readonly topic: string
  readonly record: OutgoingRecord
  readonly onAck: (error: Error | undefined) => void
}

/** A producer whose answers a test sends. */
export class ScriptedProducer implements LogProducer {
  /** Handed over and not answered yet. */
  readonly waiting: Appended[] = []
  /** Everything that was handed over, by topic. */
  readonly #appended: Appended[] = []

  append(topic: string, record: OutgoingRecord, onAck: (error: Error | undefined) => void): void {
    const appended = { topic, record, onAck }
    this.waiting.push(appended)
    this.#appended.push(appended)
  }

  records(topic: string): readonly OutgoingRecord[] {
    return this.#appended.filter(each => each.topic === topic).map(({ record }) => record)
  }

  /** Answers the oldest `count` records; all of them unless said otherwise. */
  answer(error?: Error, count = this.waiting.length): void {
    for (const { onAck } of this.waiting.splice(0, count)) onAck(error)
  }

  async flush(): Promise<void> {}
  async stop(): Promise<void> {}
}
