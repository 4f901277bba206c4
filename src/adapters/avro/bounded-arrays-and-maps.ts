import avsc from 'avsc'

/** avsc's reader of bytes. If `pos` is beyond the end of `buf`, the bytes are corrupt. */
interface Tap {
  readonly buf: Buffer
  pos: number
  readLong(): number
  skipLong(): void
  readString(): string
  skipString(): void
}
/** The methods of avsc's types that read or skip a value. */
interface Readable {
  _read(tap: Tap): unknown
  _skip(tap: Tap): void
}

/**
 * Maximum items of an array or map. Hookline's own records have at most 10,000. Without this limit,
 * a record of 16 MiB with one byte per item would take 500 MB.
 */
const maxReadItems = 100_000

/**
 * Calls `next` for each item. avsc itself would allocate and read as many items as a corrupt record
 * claims.
 * @throws Error above `maxItems`
 */
function eachItem(tap: Tap, next: () => void, maxItems = Number.POSITIVE_INFINITY): void {
  let items = 0
  for (;;) {
    const count = tap.readLong()
    if (count === 0) return
    // After a negative count, the size of the block in bytes follows.
    if (count < 0) tap.skipLong()
    for (let left = Math.abs(count); left > 0; left--) {
      if (++items > maxItems) throw new Error(`an array or map has more than ${maxItems} items`)
      const { pos } = tap
      next()
      // An item without bytes, for example a skipped `null`, does not advance the position. So the
      // check below would never end a block that claims a huge number of items.
      if (tap.pos === pos) break
      // The record has ended. The comparison is negated, because a damaged length can make the
      // position NaN.
      if (!(tap.pos <= tap.buf.length)) return
    }
  }
}

class BoundedArray extends avsc.types.ArrayType {
  _read(tap: Tap): unknown[] {
    // Read `itemsType` in each call: avsc also calls this method on a resolver, where `itemsType`
    // is the resolver of the items.
    const itemsType = this.itemsType as unknown as Readable
    const items: unknown[] = []
    eachItem(tap, () => items.push(itemsType._read(tap)), maxReadItems)
    return items
  }

  _skip(tap: Tap): void {
    const itemsType = this.itemsType as unknown as Readable
    eachItem(tap, () => itemsType._skip(tap))
  }
}

class BoundedMap extends avsc.types.MapType {
  _read(tap: Tap): Record<string, unknown> {
    const valuesType = this.valuesType as unknown as Readable
    const values: Record<string, unknown> = {}
    eachItem(
      tap,
      () => {
        const key = tap.readString()
        values[key] = valuesType._read(tap)
      },
      maxReadItems,
    )
    return values
  }

  _skip(tap: Tap): void {
    const valuesType = this.valuesType as unknown as Readable
    eachItem(tap, () => {
      tap.skipString()
      valuesType._skip(tap)
    })
  }
}

/**
 * An avsc `typeHook` that stops reading arrays and maps at the end of the record. So a record that
 * claims a huge number of items does no harm.
 */
export const boundedCollection: avsc.ForSchemaOptions['typeHook'] = (schema, options) => {
  const kind = typeof schema === 'object' && 'type' in schema ? schema.type : undefined
  if (kind === 'array') return new BoundedArray(schema, options)
  if (kind === 'map') return new BoundedMap(schema, options)
  return undefined
}
