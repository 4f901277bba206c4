import { retryDelayMs } from './backoff.ts'
import type { ClientClock } from './clock.ts'
import type { FailureCause } from './failure.ts'
import type { Batch, SendResult, Transport } from './transport.ts'

export interface AttemptDeps {
  readonly transport: Transport
  readonly clock: ClientClock
  readonly maxRetries: number
  readonly onRetry: (trouble: FailureCause, delayMs: number) => void
}

/**
 * Sends a batch, with retries, and returns the latest result. The client sends one batch at a time,
 * so a `Retry-After` also delays the messages that wait behind the batch.
 */
export async function attempt(batch: Batch, deps: AttemptDeps, signal: AbortSignal): Promise<SendResult> {
  const { clock, maxRetries, onRetry } = deps
  for (let retry = 0; ; retry += 1) {
    const result = await tryOnce(batch, retry, deps.transport, signal)
    if (result.kind !== 'retry' || retry === maxRetries || signal.aborted) return result
    const delayMs = retryDelayMs(retry + 1, clock.random(), result.retryAfterMs)
    onRetry(result.trouble, delayMs)
    await pause(delayMs, clock, signal)
    if (signal.aborted) return result
  }
}

async function tryOnce(batch: Batch, retry: number, transport: Transport, signal: AbortSignal): Promise<SendResult> {
  try {
    return await transport.send(batch, retry, signal)
  } catch (error) {
    // Transports should not throw. If one does, its messages still get a result.
    return { kind: 'retry', trouble: { code: 'internal', detail: String(error) }, retryAfterMs: undefined }
  }
}

function pause(delayMs: number, clock: ClientClock, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(delayMs, end)
    signal.addEventListener('abort', end)
  })
}
