import { rejection } from './message-rejection.ts'

/**
 * Maximum size of a message as compact JSON. Three things do not count: members of the batch, the
 * type in the request path, and quotation marks added to numeric ids.
 */
export const maxMessageBytes = 32_768

/**
 * Maximum characters in the text of a message: Hookline rejects a longer text without parsing. The
 * factor is large, because compact JSON can be much shorter than the text: `\u0041` becomes one
 * byte.
 */
export const maxTextLength = 8 * maxMessageBytes

export const textTooLong = rejection(
  'message_too_large',
  `The message is much too large, so Hookline does not parse it: send at most ${maxMessageBytes} bytes of compact JSON.`,
)
