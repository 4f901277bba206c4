import type { Logger } from '../core/ports.ts'

/** Something with a beginning and an end. */
export interface Part {
  readonly name: string
  start?(): Promise<unknown>
  stop?(): Promise<unknown>
}

/** Parts that were started, in order; they are stopped in reverse, each whatever happened to the others. */
export class Lifecycle {
  readonly #started: Part[] = []
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Starts a part. When it fails, everything that was started before is stopped again, and the failure is thrown on. */
  async start(part: Part): Promise<void> {
    try {
      await part.start?.()
    } catch (error) {
      await this.stop()
      throw error
    }
    this.#started.push(part)
  }

  async stop(): Promise<void> {
    for (let part = this.#started.pop(); part !== undefined; part = this.#started.pop()) {
      try {
        await part.stop?.()
      } catch (error) {
        this.#logger.error({ part: part.name, error: String(error) }, 'part not stopped cleanly')
      }
    }
  }
}
