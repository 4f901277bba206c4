/** How one format says what instruments that show themselves have measured. */
export interface Format {
  /** The two lines that say what a metric is. */
  head(name: string, help: string, type: 'counter' | 'histogram'): string
  /** Whether it can tell of traces. */
  readonly hasExemplars: boolean
}

/** An instrument that shows itself. */
export interface Shown {
  text(format: Format): string
}

/** That of Prometheus. */
export const textFormat: Format = {
  head: (name, help, type) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}`,
  hasExemplars: false,
}

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
