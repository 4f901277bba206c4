import { maxNesting } from '../message/json.ts'
import type { Path } from '../settings/problem.ts'

/** A property of JSON text that a parsed value no longer shows, or that would change the value. */
export interface StructureProblem {
  readonly kind: 'duplicate_key' | 'reserved_key' | 'too_deep' | 'lone_surrogate'
  readonly path: Path
}

/**
 * Finds the first of these in valid JSON text: a key that an object has twice, of which a parser
 * keeps only the last; the key `__proto__`; more than 100 levels of objects and lists; half of a
 * surrogate pair, which UTF-8 cannot encode. `undefined` when there is none.
 */
export function structureProblem(text: string): StructureProblem | undefined {
  const open: { readonly keys: Set<string> | undefined; place: string | number }[] = []
  const pathTo = (last: readonly (string | number)[] = []): Path => [...open.map(({ place }) => place), ...last]
  let isKey = false
  for (const [token] of text.matchAll(tokens)) {
    const inner = open.at(-1)
    switch (token[0]) {
      case '{':
      case '[':
        if (open.length === maxNesting) return { kind: 'too_deep', path: pathTo() }
        isKey = token === '{'
        open.push(isKey ? { keys: new Set(), place: '' } : { keys: undefined, place: 0 })
        break
      case '}':
      case ']':
        open.pop()
        isKey = false
        break
      case ',':
        isKey = inner?.keys !== undefined
        if (typeof inner?.place === 'number') inner.place++
        break
      default: {
        const string = JSON.parse(token) as string
        if (!string.isWellFormed()) return { kind: 'lone_surrogate', path: isKey ? pathTo().slice(0, -1) : pathTo() }
        if (!isKey || inner?.keys === undefined) break
        isKey = false
        inner.place = string
        if (string === '__proto__') return { kind: 'reserved_key', path: pathTo() }
        if (inner.keys.has(string)) return { kind: 'duplicate_key', path: pathTo() }
        inner.keys.add(string)
      }
    }
  }
  return undefined
}

/** A string, or a character that opens, closes or separates. Numbers and literals are skipped. */
const tokens = /"(?:[^"\\]+|\\.)*"|[{}[\],]/gs
