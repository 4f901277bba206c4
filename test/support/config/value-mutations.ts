import fc from 'fast-check'

/* Changes to the keys and values of a configuration. */

/**
 * New names for keys: names with a meaning in JavaScript or YAML, unknown names, names of other
 * keys, and misspelled names.
 */
const names = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '<<', '', ' ', '0', 'a.b', '["x"]'],
  'null',
  ...['id', 'url', 'sources', 'destinations', 'webhooks', 'destinationsFrom', 'sharedSecretFile', 'Id', 'writekey'],
]
const values: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 2 ** 53, 1e308, Number.POSITIVE_INFINITY, Number.NaN, 99_999, 65_536],
  ...[
    '',
    ' ',
    'x'.repeat(5_000),
    '\0',
    'a\nb',
    `\${MISSING}`,
    '${',
    `\${N}`,
    '5',
    '5s',
    '99999h',
    '-1s',
    'true',
    '../../..',
  ],
  ...['.', '/dev/zero', 'nowhere', 'secrets', '\ud800', '__proto__', 'http://[::1', 'http://127.0.0.1'],
  'https://a:b@c.example',
  ...[[], [[]], {}, [null], { __proto__: null, id: 1 }, [1, 'a'], ['web', 'web'], { url: {} }],
]

const place = fc.nat({ max: 10_000 })
export const treeChange = fc.oneof(
  fc.record({ kind: fc.constant('remove' as const), at: place }),
  fc.record({ kind: fc.constant('rename' as const), at: place, to: fc.constantFrom(...names) }),
  fc.record({ kind: fc.constant('misspell' as const), at: place, letter: fc.nat({ max: 20 }) }),
  fc.record({
    ...{ kind: fc.constant('replace' as const), at: place },
    value: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...values) }, fc.jsonValue({ maxDepth: 1 })),
  }),
  fc.record({ kind: fc.constant('copy' as const), at: place, to: place }),
  fc.record({ kind: fc.constant('repeat' as const), at: place, times: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ kind: fc.constant('wrap' as const), at: place, in: fc.constantFrom('list' as const, ...names) }),
)
export type TreeChange = typeof treeChange extends fc.Arbitrary<infer Change> ? Change : never

type Holder = Record<string | number, unknown>
interface Place {
  readonly holder: Holder
  readonly key: string
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap(key => [{ holder: value as Holder, key }, ...placesIn((value as Holder)[key])])
}

/** Sets a key as the YAML parser does: `__proto__` becomes an ordinary key. */
function set(holder: Holder, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
}

function take({ holder, key }: Place): unknown {
  const value = holder[key]
  // Not `splice`: it calls `constructor`, which an earlier change can have set.
  if (Array.isArray(holder) && /^\d+$/.test(key)) {
    holder.copyWithin(Number(key), Number(key) + 1)
    holder.length -= 1
  } else delete holder[key]
  return value
}

export function treeWith(tree: unknown, change: TreeChange): unknown {
  const root = structuredClone(tree)
  const places = placesIn(root)
  const found = places[change.at % places.length]
  if (found === undefined) return root
  const { holder, key } = found
  switch (change.kind) {
    case 'remove':
      take(found)
      return root
    case 'rename':
    case 'misspell':
      set(holder, change.kind === 'rename' ? change.to : misspelt(key, change.letter), take(found))
      return root
    case 'replace':
      set(holder, key, change.value)
      return root
    case 'copy': {
      const to = places[change.to % places.length] as Place
      set(to.holder, to.key, structuredClone(holder[key]))
      return root
    }
    case 'repeat':
      if (!Array.isArray(holder)) set(holder, `${key}${change.times}`, structuredClone(holder[key]))
      else for (let time = 0; time < change.times; time++) holder.push(structuredClone(holder[Number(key)]))
      return root
    case 'wrap':
      set(holder, key, change.in === 'list' ? [holder[key]] : wrapped(change.in, holder[key]))
      return root
  }
}

const misspelt = (name: string, letter: number): string => {
  const at = letter % (name.length + 1)
  return `${name.slice(0, at)}x${name.slice(at + 1)}`
}

function wrapped(name: string, value: unknown): Holder {
  const holder: Holder = {}
  set(holder, name, value)
  return holder
}
