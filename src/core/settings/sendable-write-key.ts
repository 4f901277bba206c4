/**
 * Whether every client can send a write key. In HTTP Basic, a colon ends the key, and a header
 * carries only printable ASCII characters without loss.
 */
export const isSendable = (writeKey: string): boolean =>
  /^[\x20-\x39\x3b-\x7e]+$/.test(writeKey) && writeKey.trim() === writeKey

export const sendableHint =
  'use printable ASCII characters without a colon and without a space at the beginning or end, for example the output of openssl rand -hex 32'
