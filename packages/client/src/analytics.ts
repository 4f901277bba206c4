import process from 'node:process'
import type { CallType } from '../../../src/core/message/message.ts'
import type { Alias, Group, Identify, Page, Screen, Track } from './call-types.ts'
import { type ClientClock, longestTimerMs, processClock } from './clock.ts'
import type { Counts } from './counts.ts'
import { ConfigError } from './errors.ts'
import { finishWithin, guardExit } from './exit-guard.ts'
import { createHttpTransport } from './http-transport.ts'
import { type ClientLog, createLog, isDebugging, messageCount, writeToStderr } from './log.ts'
import {
  type AnalyticsOptions,
  hasTransport,
  type QueueSettings,
  settingsOf,
  type TransportOptions,
  transportSettingsOf,
} from './options.ts'
import { Sender } from './sender.ts'
import type { Transport } from './transport.ts'
import { entryOf } from './validate-and-serialise-call.ts'

export interface CloseOptions {
  /**
   * Time limit in milliseconds. Messages that are not sent within it fail with `out_of_time`.
   * Without a limit, `close` waits for all retries.
   */
  readonly timeoutMs?: number | undefined
}

/**
 * Sends messages in batches to a collector, or over another transport. Each call queues a message,
 * or throws `FieldError`, `MessageTooLarge`, `QueueFull` or `Closed`. The promise of a call never
 * rejects; await it only with `onFull: 'wait'`.
 */
export class Analytics {
  readonly #sender: Sender
  readonly #transport: Transport
  readonly #log: ClientLog

  /**
   * Creates a client that sends to a collector. It starts no timer and opens no connection before
   * the first call. @throws ConfigError
   */
  constructor(writeKey: string, options: AnalyticsOptions)
  /**
   * Creates a client that sends over `options.transport` and not over HTTP. The transport knows the
   * id of the source, so no write key is needed. @throws ConfigError
   */
  constructor(options: TransportOptions)
  constructor(first: string | TransportOptions, options?: AnalyticsOptions) {
    const { settings, transport } = resolve(first, options)
    this.#transport = transport
    this.#log = createLog({
      write: writeToStderr,
      clock: processClock,
      debugging: isDebugging(process.env['DEBUG']),
    })
    this.#sender = createSender(settings, transport, processClock, this.#log)
  }

  /** Records who a user is, with traits. Needs `userId` or `anonymousId`. */
  identify(call: Identify): Promise<void> {
    return this.#queue('identify', call)
  }

  /** Records an action of a user. Needs `event`, and `userId` or `anonymousId`. */
  track(call: Track): Promise<void> {
    return this.#queue('track', call)
  }

  /** Records a page view. Needs `userId` or `anonymousId`. */
  page(call: Page): Promise<void> {
    return this.#queue('page', call)
  }

  /** Records a view of an app screen. Needs `userId` or `anonymousId`. */
  screen(call: Screen): Promise<void> {
    return this.#queue('screen', call)
  }

  /** Records the group of a user. Needs `groupId`, and `userId` or `anonymousId`. */
  group(call: Group): Promise<void> {
    return this.#queue('group', call)
  }

  /** Records a new id of a user. Needs `userId` and `previousId`. */
  alias(call: Alias): Promise<void> {
    return this.#queue('alias', call)
  }

  /**
   * Sends all queued messages. Resolves when each of them is sent or reported as failed, even if
   * the program continues to queue messages.
   */
  flush(): Promise<void> {
    return this.#sender.flush()
  }

  /**
   * Sends all queued messages and closes the client, which then throws `Closed` for new messages.
   * Resolves when each queued message is sent or reported as failed. May be called several times.
   * @throws ConfigError for an invalid `timeoutMs`
   */
  async close({ timeoutMs }: CloseOptions = {}): Promise<void> {
    const isTime =
      timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= longestTimerMs)
    if (!isTime) throw new ConfigError('timeoutMs', `'timeoutMs' must be a number from 0 to ${longestTimerMs}.`)
    await this.#sender.close(timeoutMs)
    await this.#transport.close?.()
    this.#log.debug(() => `closed ${JSON.stringify(this.counts)}`)
  }

  /** The number of messages in each state: `queued = sent + failed + dropped + waiting`. */
  get counts(): Counts {
    return this.#sender.counts
  }

  #queue(type: CallType, call: unknown): Promise<void> {
    this.#sender.assertOpen()
    const entry = entryOf(type, call, { now: processClock.now, newId: processClock.id })
    const room = this.#sender.add(entry)
    this.#log.debug(() => `queued ${type} ${entry.messageId}, ${entry.bytes} bytes`)
    return room
  }
}

interface Resolved {
  readonly settings: QueueSettings
  readonly transport: Transport
}

function resolve(first: string | TransportOptions, options: AnalyticsOptions | undefined): Resolved {
  if (hasTransport(first)) return { settings: transportSettingsOf(first), transport: first.transport }
  const settings = settingsOf(first, options as AnalyticsOptions)
  return { settings, transport: createHttpTransport({ ...settings, now: processClock.now }) }
}

function createSender(settings: QueueSettings, transport: Transport, clock: ClientClock, log: ClientLog): Sender {
  const { exitTimeoutMs, onSent, onFailure } = settings
  const sender = new Sender({
    settings,
    clock,
    transport,
    onSent(messages) {
      log.debug(() => `sent ${messageCount(messages.length)}`)
      if (onSent !== undefined) notify(log, () => onSent(messages.map(message => message.messageId)))
    },
    onFailure(failure) {
      log.debug(
        () =>
          `${messageCount(failure.messageIds.length)} not delivered: ${failure.reason} (${failure.code}). ${failure.detail}`,
      )
      if (onFailure === undefined) log.failure(failure)
      else notify(log, () => onFailure(failure))
    },
    onRetry: ({ code, detail }, delayMs) => log.debug(() => `retry in ${Math.round(delayMs)} ms (${code}): ${detail}`),
    onBusy: busy => guardExit(exit, busy),
  })
  const exit = {
    finish: finishWithin(exitTimeoutMs, sender, clock),
    lost() {
      const { waiting } = sender.counts
      // `waiting` is 0 if a listener ended the process when it got the last result.
      if (waiting > 0)
        log.warn(
          `${messageCount(waiting)} lost: the process exited before close() had resolved. Await close() before the process exits.`,
        )
    },
  }
  return sender
}

/**
 * Calls a listener. Logs its errors and rejections, which would otherwise stop the queue or end the
 * process.
 */
function notify(log: ClientLog, listener: () => unknown): void {
  const warn = (error: unknown): void => {
    const text = error instanceof Error ? error.stack : String(error)
    log.warn(`an 'onSent' or 'onFailure' listener threw an error: ${text}`)
  }
  try {
    Promise.resolve(listener()).catch(warn)
  } catch (error) {
    warn(error)
  }
}
