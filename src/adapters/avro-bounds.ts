import avsc from 'avsc'

/** What avsc reads bytes with. `pos` beyond the end marks the bytes as damaged. */
interface Tap {
  readonly buf: Buffer
  pos: number
  readLong(): number
  skipString(): void
}
interface Skipping {
  _skip(tap: Tap): void
}

/*
 * avsc skips as many items as the bytes announce, however few bytes are left: with a foreign schema that has an array or a
 * map, one damaged record could hold the process for hours. No collection may have more items than there are bytes left.
 */
function skipItems(tap: Tap, skipItem: () => void): void {
  for (;;) {
    const count = tap.readLong()
    if (count === 0) return
    const left = tap.buf.length - tap.pos
    // A negative count announces a block by its size in bytes.
    const size = count < 0 ? tap.readLong() : 0
    if (count > left || size < 0 || size > left) {
      tap.pos = tap.buf.length + 1
      return
    }
    if (count < 0) tap.pos += size
    else for (let item = 0; item < count; item++) skipItem()
  }
}

class BoundedArray extends avsc.types.ArrayType {
  _skip(tap: Tap): void {
    const items = this.itemsType as unknown as Skipping
    skipItems(tap, () => items._skip(tap))
  }
}

class BoundedMap extends avsc.types.MapType {
  _skip(tap: Tap): void {
    const values = this.valuesType as unknown as Skipping
    skipItems(tap, () => {
      tap.skipString()
      values._skip(tap)
    })
  }
}

/** avsc's `typeHook`: compiles the collections of a foreign schema so that damaged bytes cannot hold the process. */
export const boundedCollection: avsc.ForSchemaOptions['typeHook'] = (schema, options) => {
  const kind = typeof schema === 'object' && 'type' in schema ? schema.type : undefined
  if (kind === 'array') return new BoundedArray(schema, options)
  if (kind === 'map') return new BoundedMap(schema, options)
  return undefined
}
