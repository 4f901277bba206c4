import process from 'node:process'
import type { CallType } from '../../../src/core/message/message.ts'
import { type Alias, entryOf, type Group, type Identify, type Page, type Screen, type Track } from './calls.ts'
import { type ClientClock, longestTimerMs, systemClock } from './clock.ts'
import type { Counts } from './counts.ts'
import { ConfigError } from './errors.ts'
import { guardExit } from './exit.ts'
import { createHttpTransport } from './http.ts'
import { type ClientLog, createLog, isDebugging } from './log.ts'
import {
  type AnalyticsOptions,
  isOverTransport,
  type QueueSettings,
  settingsOf,
  type TransportOptions,
  transportSettingsOf,
} from './options.ts'
import { Sender } from './sender.ts'
import type { Transport } from './transport.ts'

export interface CloseOptions {
  /** Milliseconds; what is not sent by then has failed (`out_of_time`). Without it: as long as the retries take. */
  readonly timeoutMs?: number | undefined
}

/**
 * Sends messages to a collector, or over another transport. A call checks its message, queues it and returns; batches go out behind it. Calls throw
 * `FieldError`, `MessageTooLarge`, `QueueFull` and `Closed` at once. The promise that they return needs no awaiting: it
 * waits only with `onFull: 'wait'`, and never fails.
 */
export class Analytics {
  readonly #sender: Sender
  readonly #transport: Transport
  readonly #log: ClientLog

  /** Opens nothing: no timer and no connection before the first call. Throws `ConfigError`. */
  constructor(writeKey: string, options: AnalyticsOptions)
  /** Over another transport than HTTP: what tells the source belongs to that. Throws `ConfigError`. */
  constructor(options: TransportOptions)
  constructor(first: string | TransportOptions, options?: AnalyticsOptions) {
    const { settings, transport } = wayOut(first, options)
    this.#transport = transport
    this.#log = createLog({
      write: line => process.stderr.write(line),
      clock: systemClock,
      debugging: isDebugging(process.env['DEBUG']),
    })
    this.#sender = createSender(settings, transport, systemClock, this.#log)
  }

  /** Who a user is, and what is known of them. Needs `userId` or `anonymousId`. */
  identify(call: Identify): Promise<void> {
    return this.#queue('identify', call)
  }

  /** What a user did. Needs `event`, and `userId` or `anonymousId`. */
  track(call: Track): Promise<void> {
    return this.#queue('track', call)
  }

  /** A page that was seen. Needs `userId` or `anonymousId`. */
  page(call: Page): Promise<void> {
    return this.#queue('page', call)
  }

  /** A screen of an app that was seen. Needs `userId` or `anonymousId`. */
  screen(call: Screen): Promise<void> {
    return this.#queue('screen', call)
  }

  /** The group that a user belongs to. Needs `groupId`, and `userId` or `anonymousId`. */
  group(call: Group): Promise<void> {
    return this.#queue('group', call)
  }

  /** A new id for a user. Needs `userId` and `previousId`. */
  alias(call: Alias): Promise<void> {
    return this.#queue('alias', call)
  }

  /** Sends what is queued. Resolves when all of it, and what is queued meanwhile, is sent or reported as failed. */
  flush(): Promise<void> {
    return this.#sender.flush()
  }

  /** Sends what is queued and ends the client; a call after it throws `Closed`. Resolves like `flush`; may be called again. */
  async close({ timeoutMs }: CloseOptions = {}): Promise<void> {
    const isTime =
      timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= longestTimerMs)
    if (!isTime) throw new ConfigError('timeoutMs', `'timeoutMs' must be a number from 0 to ${longestTimerMs}.`)
    await this.#sender.close(timeoutMs)
    await this.#transport.close?.()
    this.#log.debug(() => `closed ${JSON.stringify(this.counts)}`)
  }

  /** What became of all messages; always `queued = sent + failed + dropped + waiting`. */
  get counts(): Counts {
    return this.#sender.counts
  }

  #queue(type: CallType, call: unknown): Promise<void> {
    this.#sender.assertOpen()
    const entry = entryOf(type, call, { now: systemClock.now, newId: systemClock.id })
    const room = this.#sender.add(entry)
    this.#log.debug(() => `queued ${type} ${entry.messageId}, ${entry.bytes} bytes`)
    return room
  }
}

interface WayOut {
  readonly settings: QueueSettings
  readonly transport: Transport
}

function wayOut(first: string | TransportOptions, options: AnalyticsOptions | undefined): WayOut {
  if (isOverTransport(first)) return { settings: transportSettingsOf(first), transport: first.transport }
  const settings = settingsOf(first, options as AnalyticsOptions)
  return { settings, transport: createHttpTransport({ ...settings, now: systemClock.now }) }
}

function createSender(settings: QueueSettings, transport: Transport, clock: ClientClock, log: ClientLog): Sender {
  const { exitTimeoutMs, onSent, onFailure } = settings
  const sender = new Sender({
    settings,
    clock,
    transport,
    onSent(messages) {
      log.debug(() => `sent ${messages.length}`)
      if (onSent !== undefined) tell(log, () => onSent(messages.map(message => message.messageId)))
    },
    onFailure(failure) {
      log.debug(
        () => `not delivered ${failure.messageIds.length}, ${failure.reason} (${failure.code}): ${failure.detail}`,
      )
      if (onFailure === undefined) log.failure(failure)
      else tell(log, () => onFailure(failure))
    },
    onRetry: ({ code, detail }, delayMs) => log.debug(() => `again in ${Math.round(delayMs)} ms (${code}): ${detail}`),
    onBusy: busy => guardExit(exit, busy),
  })
  const exit = {
    finish: () => void sender.drain(exitTimeoutMs),
    lost: () => log.warn(`${sender.counts.waiting} lost: the process was ended before close() was done.`),
  }
  return sender
}

/** A listener's fault is not the queue's. */
function tell(log: ClientLog, listener: () => unknown): void {
  try {
    listener()
  } catch (error) {
    log.warn(`a listener threw: ${error instanceof Error ? error.stack : String(error)}`)
  }
}
