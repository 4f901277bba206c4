import { keyNames, keysAt, meaningAt } from './json-schema.ts'
import { nearestName } from './nearest.ts'
import { type Path, untold } from './problem.ts'

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
