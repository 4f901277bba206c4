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
