/** `at` is the position of the next byte. */
export interface ByteReader {
  readonly bytes: Buffer
  at: number
}

/** Writes a whole number up to 2^53 - 1: seven bits per byte, the lowest first. */
export function writeVarint(bytes: number[], value: number): void {
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128)
  bytes.push(left)
}

/**
 * Writes the length of a text in UTF-8 bytes, and then the text. Only a text with other characters
 * than ASCII needs a temporary buffer; almost all ids are ASCII.
 */
export function writeText(bytes: number[], text: string): void {
  if (!isAscii(text)) {
    const encoded = Buffer.from(text)
    writeVarint(bytes, encoded.length)
    bytes.push(...encoded)
    return
  }
  writeVarint(bytes, text.length)
  for (let at = 0; at < text.length; at++) bytes.push(text.charCodeAt(at))
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

/** Reads a varint; `undefined` when it exceeds 2^53 - 1 or is incomplete. */
export function readVarint(reader: ByteReader): number | undefined {
  let value = 0
  for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) return undefined
    value += (byte & 127) * scale
    if (byte < 128) return Number.isSafeInteger(value) ? value : undefined
  }
  return undefined
}
