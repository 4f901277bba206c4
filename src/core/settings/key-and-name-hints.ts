import { keyNames, keysAt, meaningAt } from './configuration-json-schema.ts'
import { maskedKey, type Path } from './settings-problem.ts'

/**
 * Returns the known name that the user probably meant. Up to a third of the letters may differ (one
 * letter in a name of two to five), and case does not matter.
 */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  // A long text is not a misspelled name, and comparing it would take long.
  if (typed.length > 64) return undefined
  const limit = typed.length < 2 ? 0 : Math.max(1, Math.floor(typed.length / 3))
  const near = names
    .map(name => ({ name, distance: distanceOf(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return near[0]?.name
}

/**
 * The edit distance from `a` to `b`: the number of inserted, deleted, replaced and swapped letters
 * (Damerau-Levenshtein).
 */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1))
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped && row > 1 && column > 1) best = Math.min(best, beforeLast[column - 2]! + 1)
      current.push(best)
    }
    beforeLast = last
    last = current
  }
  return last[b.length]!
}

/** Maximum number of names in a hint. */
const maxNames = 20

export function adviceAt(path: Path): string {
  const keys = keysAt(path)
  return keys.length > 0 ? possible(keys, 'possible keys') : meaningAt(path)
}

/** Returns a hint for a name: the known name that was probably meant, or `otherwise`. */
export function adviceOnName(typed: unknown, names: readonly string[], otherwise = possible(names)): string {
  const nearest = typeof typed === 'string' ? nearestName(typed, names) : undefined
  return nearest === undefined ? otherwise : `did you mean ${nearest}?`
}

/**
 * Masks keys that are unlike those of the schema, because a syntax error can turn a secret into a
 * key.
 */
export const maskUnknownKeys = (path: Path): Path =>
  path.map(part => (typeof part === 'number' || isLikeOurs(part) ? part : maskedKey))

const ours = [...keyNames, '<<', '__proto__']
const isLikeOurs = (key: string): boolean => keyNames.has(key) || nearestName(key, ours) !== undefined

function possible(names: readonly string[], label = 'possible'): string {
  if (names.length === 0) return 'leave it out'
  return `${label}: ${names.slice(0, maxNames).join(', ')}${names.length > maxNames ? ', …' : ''}`
}
