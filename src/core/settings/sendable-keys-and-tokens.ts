/**
 * Whether every client can send a write key. In HTTP Basic, a colon would end the key. Headers
 * transport only printable ASCII, and lose spaces at the beginning and the end.
 */
export const isSendable = (writeKey: string): boolean =>
  /^[\x20-\x39\x3b-\x7e]+$/.test(writeKey) && writeKey.trim() === writeKey

export const sendableHint =
  'use printable ASCII characters without a colon and without a space at the beginning or end, for example the output of openssl rand -hex 32'

/** Whether a text can follow `Bearer` in the Authorization header: visible ASCII without spaces. */
export const isBearerToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)
