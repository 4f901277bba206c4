import type { Logger } from '../core/ports.ts'

/** A component of a process that is started and stopped. */
export interface Component {
  readonly name: string
  start?(): Promise<unknown>
  stop?(): Promise<unknown>
}

/**
 * The components of a process, in the order of their start. They are stopped in reverse order. If
 * one fails to stop, the others are still stopped.
 */
export class Lifecycle {
  /** The components to stop: those that have started, and the one that is starting. */
  readonly #components: Component[] = []
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Starts a component. If the start fails, stops this component, because a part of it may run.
   * Then stops all earlier components, and rethrows the error.
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
