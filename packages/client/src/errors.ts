import type { RejectionCode } from '../../../src/core/message/message.ts'

/** A setting that cannot be used; thrown by `new Analytics`. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'invalid_config'
  /** The setting at fault: `endpoint`, `size`, … */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** A call whose fields cannot be used; thrown by the call itself, nothing was queued. */
export class FieldError extends Error {
  override readonly name = 'FieldError'
  /** The codes that the collector gives for the same fault, and `not_serialisable`. */
  readonly code: RejectionCode | 'not_serialisable'

  constructor(code: RejectionCode | 'not_serialisable', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** A message of more UTF-8 bytes than a call may have (B8); nothing was queued. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge'
  readonly code = 'message_too_large'
  readonly bytes: number

  constructor(bytes: number, maxBytes: number) {
    super(`The message has ${bytes} bytes of JSON; at most ${maxBytes} are taken: send less in it, or split it.`)
    this.bytes = bytes
  }
}

/** The queue is at its bound and the message was not taken. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
  readonly code = 'queue_full'

  constructor(messages: number, bytes: number) {
    super(
      `The queue is full (${messages} messages, ${bytes} bytes wait): the endpoint is slow or down. ` +
        "Send less, raise maxQueueMessages or maxQueueBytes, or choose another 'onFull'.",
    )
  }
}

/** A call after `close()`. */
export class Closed extends Error {
  override readonly name = 'Closed'
  readonly code = 'closed'

  constructor() {
    super('This client was closed: nothing can be sent with it any more.')
  }
}
