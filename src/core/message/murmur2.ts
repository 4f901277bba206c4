/** MurmurHash2 as Kafka's Java client computes it: 32 bits, signed, with Kafka's seed. */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes
  const mix = 0x5bd1e995
  const tail = length & ~3
  let hash = 0x9747b28c ^ length
  for (let at = 0; at < tail; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    const mixed = Math.imul(word, mix)
    hash = Math.imul(hash, mix) ^ Math.imul(mixed ^ (mixed >>> 24), mix)
  }
  if (tail < length) {
    for (let at = length - 1; at >= tail; at -= 1) hash ^= bytes[at]! << (8 * (at - tail))
    hash = Math.imul(hash, mix)
  }
  hash = Math.imul(hash ^ (hash >>> 13), mix)
  return hash ^ (hash >>> 15)
}
