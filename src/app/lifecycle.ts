import type { Logger } from '../core/ports.ts'

/** A component of a process that is started and stopped. */
export interface Component {
  readonly name: string
  start?(): Promise<unknown>
  stop?(): Promise<unknown>
}

/**
 * The components of a process. They stop in the reverse order of their start, also if some fail to
 * stop.
 */
export class Lifecycle {
  /** The components that have started, and the one that is starting. */
  readonly #components: Component[] = []
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Starts a component. If the start fails, stops this component and all earlier ones, and rethrows
   * the error.
   */
  async start(part: Component): Promise<void> {
    this.#components.push(part)
    try {
      await part.start?.()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async stop(): Promise<void> {
    for (let part = this.#components.pop(); part !== undefined; part = this.#components.pop()) {
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
