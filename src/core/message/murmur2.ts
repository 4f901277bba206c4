/**
 * MurmurHash2 of the bytes from `start` to `end`, signed 32 bits, with the seed of Kafka's Java
 * client.
 */
export function murmur2(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const length = end - start
  const mix = 0x5bd1e995
  const tail = start + (length & ~3)
  let hash = 0x9747b28c ^ length
  for (let at = start; at < tail; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    const mixed = Math.imul(word, mix)
    hash = Math.imul(hash, mix) ^ Math.imul(mixed ^ (mixed >>> 24), mix)
  }
  if (tail < end) {
    for (let at = end - 1; at >= tail; at -= 1) hash ^= bytes[at]! << (8 * (at - tail))
    hash = Math.imul(hash, mix)
  }
  hash = Math.imul(hash ^ (hash >>> 13), mix)
  return hash ^ (hash >>> 15)
}
