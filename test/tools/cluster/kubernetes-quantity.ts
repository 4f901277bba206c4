/** The factors of the suffixes that Kubernetes writes in metrics. */
const factors = { '': 1, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6 } as const

/** Parses a quantity of Kubernetes, for example `250m`. @throws when it is another text */
export function parseQuantity(text: string): number {
  const [, number, suffix] = /^(\d+)([numkM]?)$/.exec(text) ?? []
  if (number === undefined) throw new RangeError(`not a quantity: ${text}`)
  return Number(number) * factors[suffix as keyof typeof factors]
}
