interface Exemplar {
  readonly traceId: string
  readonly value: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Of each bucket of a histogram the last observation that was part of a kept trace. */
export class Exemplars {
  /** Milliseconds since 1970. */
  readonly #wall: () => number
  /** By the position of the bucket. */
  readonly #latest: (Exemplar | undefined)[] = []

  constructor(wall: () => number) {
    this.#wall = wall
  }

  note(bucket: number, value: number, traceId: string): void {
    this.#latest[bucket] = { traceId, value, at: this.#wall() }
  }

  /** What comes behind the value of a bucket in OpenMetrics; undefined when it has none. */
  of(bucket: number): string | undefined {
    const exemplar = this.#latest[bucket]
    return exemplar && written(exemplar)
  }
}

/** 40 characters of the 128 that OpenMetrics leaves to name and value of the label. */
const written = ({ traceId, value, at }: Exemplar): string =>
  ` # {trace_id="${traceId}"} ${value} ${(at / 1_000).toFixed(3)}`
