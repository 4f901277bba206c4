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
