import type { Objection } from '../invalid-value-message-and-hint.ts'

/** Header names that Hookline or HTTP itself sets, in lower case. */
const reservedNames = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'keep-alive',
  'user-agent',
  'x-signature',
  'x-message-id',
])
const reservedPrefixes = ['proxy-', 'webhook-']
/** The syntax of a header's name (RFC 9110 5.6.2). */
export const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
export const headerNameCharacters = "letters, digits and !#$%&'*+-.^_`|~"
/**
 * The syntax of a header's value (RFC 9110 5.5): TAB, space, visible ASCII, and bytes from 0x80,
 * which Node writes as Latin-1.
 */
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

const maxValueBytes = 4_096
const maxBytesOfAll = 8_192

/**
 * Returns why a static header is not allowed. The returned text never contains the value. It
 * contains the name only if the name is reserved: a syntax error can turn a credential into a name.
 */
export function refuseHeader(name: string, value: string): Objection | undefined {
  const lower = name.toLowerCase()
  if (!headerName.test(name)) {
    return { message: 'the name of this header is not valid', hint: `use only ${headerNameCharacters}` }
  }
  // HTTP clients keep headers in plain objects, which cannot have this key.
  if (name === '__proto__') return { message: 'a header of this name cannot be sent', hint: 'use another name' }
  const prefix = reservedPrefixes.find(each => lower.startsWith(each))
  if (reservedNames.has(lower) || prefix !== undefined) {
    const which =
      prefix === undefined ? `header ${JSON.stringify(name)} is` : `header names that begin with "${prefix}" are`
    return { message: `${which} reserved for Hookline and its HTTP client`, hint: 'leave this header out' }
  }
  if (!fieldValue.test(value)) {
    const message = 'the value of this header contains a line break or another character that HTTP does not allow'
    const hint = 'use only tabs, spaces, visible ASCII characters, and the characters 0x80 to 0xff of Latin-1'
    return { message, hint }
  }
  // The value has one byte per character, because it matches `fieldValue`.
  if (value.length > maxValueBytes) {
    const message = `the value of this header is ${value.length} bytes long, the maximum is ${maxValueBytes}`
    return { message, hint: 'use a shorter value' }
  }
  return undefined
}

/**
 * Returns an objection if the headers of a webhook are too large together. Each header must have
 * passed `refuseHeader` before.
 */
export function refuseHeaders(headers: Readonly<Record<string, string>>): Objection | undefined {
  let bytes = 0
  for (const [name, value] of Object.entries(headers)) bytes += name.length + value.length
  if (bytes <= maxBytesOfAll) return undefined
  return {
    message: `the headers have ${bytes} bytes together, the maximum is ${maxBytesOfAll}`,
    hint: 'use shorter values or fewer headers',
  }
}
