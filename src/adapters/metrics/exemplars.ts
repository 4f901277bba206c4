interface Exemplar {
  readonly traceId: string
  readonly value: number
  /** Milliseconds since 1970. */
  readonly at: number
}

interface Deps {
  readonly name: string
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[]
  /** Milliseconds since 1970. */
  readonly wall: () => number
}

/** Of each bucket of a histogram without labels the last observation that was part of a kept trace. */
export class Exemplars {
  readonly #deps: Deps
  /** By the position of the bucket; the last one is that without a bound. */
  readonly #latest: (Exemplar | undefined)[]

  constructor(deps: Deps) {
    this.#deps = deps
    this.#latest = new Array(deps.bounds.length + 1).fill(undefined)
  }

  note(value: number, traceId: string): void {
    const { bounds, wall } = this.#deps
    const bucket = bounds.findIndex(bound => value <= bound)
    this.#latest[bucket === -1 ? bounds.length : bucket] = { traceId, value, at: wall() }
  }

  /** The line of a bucket up to its value → what comes behind the value in OpenMetrics; nothing for buckets without one. */
  behind(): readonly (readonly [string, string])[] {
    const { name, bounds } = this.#deps
    return this.#latest.flatMap((exemplar, bucket) =>
      exemplar === undefined
        ? []
        : [[`${name}_bucket{le="${bounds[bucket] ?? '+Inf'}"}`, ` # ${written(exemplar)}`] as const],
    )
  }
}

/** 40 characters of the 128 that OpenMetrics leaves to name and value of the label. */
const written = ({ traceId, value, at }: Exemplar): string =>
  `{trace_id="${traceId}"} ${value} ${(at / 1_000).toFixed(3)}`
