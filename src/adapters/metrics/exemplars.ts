interface Exemplar {
  readonly traceId: string
  readonly value: number
  /** When the value was observed, in milliseconds since 1970. */
  readonly at: number
}

/** The exemplars of a histogram: the latest observation of a sampled trace in each bucket. */
export class Exemplars {
  /** Returns the wall clock time in milliseconds since 1970. */
  readonly #wall: () => number
  readonly #latest: (Exemplar | undefined)[] = []

  constructor(wall: () => number) {
    this.#wall = wall
  }

  note(bucket: number, value: number, traceId: string): void {
    this.#latest[bucket] = { traceId, value, at: this.#wall() }
  }

  /** The OpenMetrics exemplar for the line of a bucket; `undefined` if the bucket has none. */
  lineSuffixOf(bucket: number): string | undefined {
    const exemplar = this.#latest[bucket]
    return exemplar && formatExemplar(exemplar)
  }
}

/** Formats an exemplar. Its label has 40 characters; OpenMetrics allows 128. */
const formatExemplar = ({ traceId, value, at }: Exemplar): string =>
  ` # {trace_id="${traceId}"} ${value} ${(at / 1_000).toFixed(3)}`
