interface Known {
  readonly bytes: Buffer
  readonly name: string
}

/** A power of two. A name takes the place of another one; whoever sends ever new ones gets no more of our memory. */
const places = 256
const longest = 64
const known: (Known | undefined)[] = Array.from({ length: places }, () => undefined)

/**
 * The text of some bytes in UTF-8. The same few names stand in every record: to find one takes a third of making it, and an object with known
 * names is made in a tenth of the time.
 */
export function knownName(from: Buffer, start: number, end: number): string {
  if (end - start > longest) return from.toString('utf8', start, end)
  let hash = 0
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + from[at]!) | 0
  const place = (hash ^ (hash >>> 8)) & (places - 1)
  const found = known[place]
  if (found !== undefined && isSame(found.bytes, from, start, end)) return found.name
  const name = from.toString('utf8', start, end)
  known[place] = { bytes: Buffer.from(from.subarray(start, end)), name }
  return name
}

function isSame(bytes: Buffer, from: Buffer, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== from[start + at]) return false
  return true
}
