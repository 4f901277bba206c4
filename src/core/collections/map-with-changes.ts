/** `withChanges` copies the map only above this number of changed values. */
const maxChanges = 500

/**
 * Returns `map` with some values replaced; each key of `changes` must be in `map`. Up to
 * `maxChanges` changes are kept in a second map, because a copy of a large map takes milliseconds.
 */
export const withChanges = <Key, Value extends object>(
  map: ReadonlyMap<Key, Value>,
  changes: ReadonlyMap<Key, Value>,
): ReadonlyMap<Key, Value> => MapWithChanges.from(map, changes)

/** A base map, and the changes to it. The base map is never a `MapWithChanges` itself. */
class MapWithChanges<Key, Value extends object> implements ReadonlyMap<Key, Value> {
  readonly #base: ReadonlyMap<Key, Value>
  readonly #changes: ReadonlyMap<Key, Value>

  private constructor(base: ReadonlyMap<Key, Value>, changes: ReadonlyMap<Key, Value>) {
    this.#base = base
    this.#changes = changes
  }

  static from<Key, Value extends object>(
    map: ReadonlyMap<Key, Value>,
    changes: ReadonlyMap<Key, Value>,
  ): ReadonlyMap<Key, Value> {
    const hasChanges = map instanceof MapWithChanges
    const all = hasChanges ? new Map([...map.#changes, ...changes]) : changes
    const result = new MapWithChanges<Key, Value>(hasChanges ? map.#base : map, all)
    return all.size > maxChanges ? new Map(result) : result
  }

  get size(): number {
    return this.#base.size
  }

  get(key: Key): Value | undefined {
    return this.#changes.get(key) ?? this.#base.get(key)
  }

  has(key: Key): boolean {
    return this.#base.has(key)
  }

  keys(): MapIterator<Key> {
    return this.#base.keys()
  }

  *values(): MapIterator<Value> {
    for (const [, value] of this) yield value
  }

  entries(): MapIterator<[Key, Value]> {
    return this[Symbol.iterator]()
  }

  *[Symbol.iterator](): MapIterator<[Key, Value]> {
    for (const [key, value] of this.#base) yield [key, this.#changes.get(key) ?? value]
  }

  forEach(call: (value: Value, key: Key, map: ReadonlyMap<Key, Value>) => void): void {
    for (const [key, value] of this) call(value, key, this)
  }
}
