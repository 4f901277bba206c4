import { maxNesting } from '../message/json.ts'
import type { Path } from '../settings/problem.ts'

/**
 * A problem of JSON text that must be found before parsing: the parsed value does not show it, or
 * cannot be stored unchanged.
 */
export interface StructureProblem {
  readonly kind: 'duplicate_key' | 'reserved_key' | 'too_deep' | 'lone_surrogate'
  readonly path: Path
}

/**
 * Finds the first structure problem in valid JSON text; `undefined` when there is none.
 * - `duplicate_key`: an object has a key twice. A parser keeps only the last one.
 * - `reserved_key`: the key `__proto__`.
 * - `too_deep`: more than 100 levels of objects and lists.
 * - `lone_surrogate`: half of a surrogate pair, which UTF-8 cannot encode.
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

/**
 * Matches the tokens that show the structure of JSON: strings, brackets and commas. Numbers and
 * literals are skipped.
 */
const tokens = /"(?:[^"\\]+|\\.)*"|[{}[\],]/gs
