import type { Logger } from '../core/ports.ts'

/** A component of a process that is started and stopped. */
export interface Component {
  readonly name: string
  start?(): Promise<unknown>
  stop?(): Promise<unknown>
}

/**
 * The started components of a process, in order. They are stopped in reverse order. If one fails to
 * stop, the others are still stopped.
 */
export class Lifecycle {
  readonly #started: Component[] = []
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Starts a component. If that fails, stops it, because a part of it may run, and all earlier ones,
   * and rethrows the error.
   */
  async start(part: Component): Promise<void> {
    this.#started.push(part)
    try {
      await part.start?.()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async stop(): Promise<void> {
    for (let part = this.#started.pop(); part !== undefined; part = this.#started.pop()) {
      try {
        await part.stop?.()
      } catch (error) {
        this.#logger.error(
          { part: part.name, error: String(error) },
          'one component of this process failed to stop (see the field "part"); the process stops its other components',
        )
      }
    }
  }
}
