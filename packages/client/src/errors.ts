import type { RejectionCode } from '../../../src/core/message/message-rejection.ts'

/** An invalid setting. Thrown by `new Analytics`, `close` and `kafkaTransport`. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'invalid_config'
  /** The name of the setting: `endpoint`, `size`, … */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** A call with invalid fields. Thrown by the call; nothing was queued. */
export class FieldError extends Error {
  override readonly name = 'FieldError'
  /**
   * The code with which the collector would reject this message, or `not_serialisable`, which only
   * the client uses.
   */
  readonly code: RejectionCode | 'not_serialisable'

  constructor(code: RejectionCode | 'not_serialisable', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** A message above the size limit in UTF-8 bytes. Thrown by the call; nothing was queued. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge'
  readonly code = 'message_too_large'
  readonly bytes: number

  constructor(bytes: number, maxBytes: number) {
    super(`The message has ${bytes} bytes of JSON; the limit is ${maxBytes}. Remove fields or split the message.`)
    this.bytes = bytes
  }
}

/** The queue is full. Thrown by the call; the message was not queued. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
  readonly code = 'queue_full'

  constructor(messages: number, bytes: number) {
    super(
      `The queue is full (${messages} messages, ${bytes} bytes): ` +
        'the program queues messages faster than the client sends them. ' +
        'Check whether the collector or Kafka is slow or unavailable. ' +
        "To wait for room in the queue, set 'onFull' to 'wait' and await each call.",
    )
  }
}

/** A call after `close()`, or while `onFailure` handles `out_of_time`. Nothing was queued. */
export class Closed extends Error {
  override readonly name = 'Closed'
  readonly code = 'closed'

  constructor() {
    super('The client is closed. Create a new client to send messages.')
  }
}
