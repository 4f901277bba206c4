export interface ExpositionFormat {
  /** The HELP and TYPE lines of a metric. */
  head(name: string, help: string, type: 'counter' | 'histogram'): string
  readonly hasExemplars: boolean
}

/** An instrument that writes its own lines of the exposition. */
export interface ExposedInstrument {
  text(format: ExpositionFormat): string
}

/** The text format of Prometheus. */
export const textFormat: ExpositionFormat = {
  head: (name, help, type) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}`,
  hasExemplars: false,
}
