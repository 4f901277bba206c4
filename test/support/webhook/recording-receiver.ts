import { createSink, type SinkOptions, type SinkRequest } from '../../../src/adapters/http/sink-server.ts'
import { Conditions } from '../awaited-conditions.ts'

/** A receiver that records its requests. Tests can wait for a request. */
export class RecordingReceiver {
  readonly requests: SinkRequest[] = []
  /** Number of successful responses by message id. */
  readonly successes = new Map<string, number>()
  readonly #conditions = new Conditions()
  readonly #sink: ReturnType<typeof createSink>
  url = ''

  constructor(options: Omit<SinkOptions, 'onRequest'> = {}) {
    this.#sink = createSink({
      ...options,
      onRequest: request => {
        this.requests.push(request)
        const { messageId = '', answer } = request
        if (answer === 200) this.successes.set(messageId, (this.successes.get(messageId) ?? 0) + 1)
        this.#conditions.changed()
      },
    })
  }

  static async started(options?: Omit<SinkOptions, 'onRequest'>): Promise<RecordingReceiver> {
    const receiver = new RecordingReceiver(options)
    receiver.url = `${await receiver.#sink.start()}/hooks`
    return receiver
  }

  until(condition: () => boolean): Promise<void> {
    return this.#conditions.until(condition)
  }

  untilDelivered(count: number): Promise<void> {
    return this.until(() => this.successes.size >= count)
  }

  /** Number of successful responses beyond the first of each message. */
  get duplicates(): number {
    return [...this.successes.values()].reduce((sum, times) => sum + times - 1, 0)
  }

  async close(): Promise<void> {
    await this.#sink.stop()
  }
}
