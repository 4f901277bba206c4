import type { Objection } from '../units.ts'

/** Headers that are Hookline's or HTTP's to give, in lower case. */
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
/** RFC 9110 5.6.2 */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9110 5.5: TAB, visible ASCII with space, and bytes from 0x80, which Node writes as Latin-1. */
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

const maxValueBytes = 4_096
const maxBytesOfAll = 8_192
const shorten = 'these headers are for keys and names: make them shorter'

/**
 * Why a static header cannot be configured; undefined when it can. The text has neither the value nor the name, because a mistake in the form
 * can turn a credential into a name. Only names that Hookline sets itself are in it.
 */
export function refuseHeader(name: string, value: string): Objection | undefined {
  const lower = name.toLowerCase()
  if (!token.test(name)) {
    return { message: 'the name of this header is not valid', hint: "use letters, digits and !#$%&'*+-.^_`|~" }
  }
  // The one token that plain objects, which HTTP clients keep headers in, cannot hold.
  if (name === '__proto__') return { message: 'a header of this name cannot be sent', hint: 'take another name' }
  const prefix = reservedPrefixes.find(each => lower.startsWith(each))
  if (reservedNames.has(lower) || prefix !== undefined) {
    const which = prefix === undefined ? JSON.stringify(name) : `${JSON.stringify(prefix)}…`
    return { message: `header ${which} is set by Hookline or by HTTP itself`, hint: 'leave it out' }
  }
  if (!fieldValue.test(value)) {
    const message = 'the value of this header holds a line break or another character that HTTP does not allow'
    return { message, hint: 'allowed: TAB, 0x20-0x7e and 0x80-0xff' }
  }
  // One byte a character, after the check above.
  if (value.length > maxValueBytes) {
    const message = `the value of this header is ${value.length} bytes long, more than ${maxValueBytes}`
    return { message, hint: shorten }
  }
  return undefined
}

/** Why a webhook's static headers do not go together; undefined when they do. Each one passed `refuseHeader` before. */
export function refuseHeaders(headers: Readonly<Record<string, string>>): Objection | undefined {
  const seen = new Set<string>()
  let bytes = 0
  for (const [name, value] of Object.entries(headers)) {
    if (seen.has(name.toLowerCase())) {
      return { message: 'one header stands twice', hint: 'leave one of them out: names ignore case' }
    }
    seen.add(name.toLowerCase())
    bytes += name.length + value.length
  }
  if (bytes <= maxBytesOfAll) return undefined
  return { message: `the headers are ${bytes} bytes together, more than ${maxBytesOfAll}`, hint: shorten }
}
