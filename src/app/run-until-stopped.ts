import { once } from 'node:events'
import type { Logger } from '../core/ports.ts'
import type { Addresses, Composition } from './compose/compose.ts'
import { CommandFailed } from './create-command.ts'

export interface StopContext {
  /** Called at a fatal error. The process then stops and exits with code 1. */
  readonly onFatal: (error: Error) => void
  /** Aborted at a signal and at a fatal error, also during the start. */
  readonly stopAsked: AbortSignal
}

/**
 * Starts services and runs them until a signal or a fatal error.
 * @throws CommandFailed after a fatal error, or the error of a failed start
 */
export async function runUntilStopped({
  signal,
  logger,
  compose,
  onComposed,
  onReady,
}: {
  /** Aborted when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  readonly logger: Pick<Logger, 'info' | 'error'>
  compose(context: StopContext): Composition
  /**
   * Called before the services start. The function that it returns is called before the services
   * stop or, after a failed start, when they have stopped.
   */
  onComposed(composition: Composition): () => void
  /** Called when all services run. */
  onReady(addresses: Addresses): void
}): Promise<void> {
  const stopping = new AbortController()
  const { signal: stopAsked } = stopping
  let fatal: Error | undefined
  signal.addEventListener('abort', () => stopping.abort())
  const onFatal = (error: Error): void => {
    logger.error(
      { error: error.message, ...('code' in error && { code: error.code }) },
      'fatal error (see "error"); the process stops now',
    )
    if (!stopAsked.aborted) fatal = error
    stopping.abort()
  }
  const composition = compose({ onFatal, stopAsked })
  const close = onComposed(composition)
  let addresses: Addresses | undefined
  let isReady = false
  try {
    addresses = await composition.start()
    isReady = !stopAsked.aborted
    if (isReady) {
      onReady(addresses)
      await once(stopAsked, 'abort')
    }
  } catch (error) {
    if (!stopAsked.aborted) throw error
  } finally {
    close()
  }
  if (addresses !== undefined) await composition.stop()
  if (fatal !== undefined)
    throw new CommandFailed('a fatal error stopped the process; see "fatal error" in the log', { cause: fatal })
  logger.info(
    {},
    isReady ? 'the process stopped after a signal' : 'a signal stopped the process before all services were ready',
  )
}
