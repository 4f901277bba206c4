import { keyNames, keysAt, meaningAt } from './json-schema.ts'
import { type Path, untold } from './problem.ts'

/** The name that `typed` was probably meant to be: equal but for case, or at most a third of it mistyped. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  // A longer text is no typo of a name, and the distance costs its square.
  if (typed.length > 64) return undefined
  const limit = Math.max(1, Math.floor(typed.length / 3))
  const near = names
    .map(name => ({ name, distance: distanceOf(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return near[0]?.name
}

/** How many letters are to be put in, taken out, changed, or swapped with their neighbour to get from `a` to `b`. */
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

/** More names than this are no help. */
const mostNames = 20

/** What belongs at a place: the keys of a mapping, else what the key there is for. */
export function adviceAt(path: Path): string {
  const keys = keysAt(path)
  return keys.length > 0 ? possible(keys) : meaningAt(path)
}

/** The name that was probably meant; when it is like none of them, `otherwise`. */
export function adviceOnName(typed: unknown, names: readonly string[], otherwise = possible(names)): string {
  const nearest = typeof typed === 'string' ? nearestName(typed, names) : undefined
  return nearest === undefined ? otherwise : `did you mean ${nearest}?`
}

/** A path as it can be told: of its keys those of the schema, and what is like one of them. */
export const tellable = (path: Path): Path =>
  path.map(part => (typeof part === 'number' || isLikeOurs(part) ? part : untold))

const ours = [...keyNames, '<<', '__proto__']
const isLikeOurs = (key: string): boolean => keyNames.has(key) || nearestName(key, ours) !== undefined

function possible(names: readonly string[]): string {
  if (names.length === 0) return 'leave it out'
  return `possible: ${names.slice(0, mostNames).join(', ')}${names.length > mostNames ? ', …' : ''}`
}
