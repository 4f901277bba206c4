/** The kinds of checks, in the order of the report. */
export const checkKinds = [
  'configuration',
  'kafka',
  'access',
  'topics',
  'registry',
  'clock',
  'endpoint',
  'transport',
] as const
export type CheckKind = (typeof checkKinds)[number]

/**
 * `warn`: deliveries work now, but will fail soon or in some cases. `fail`: deliveries do not work
 * correctly.
 */
export type Level = 'ok' | 'warn' | 'fail'

/** The result of one check. */
export interface Finding {
  readonly of: CheckKind
  readonly level: Level
  /** The broker, topic or endpoint that the finding is about. */
  readonly which?: string
  /** The result in one line. */
  readonly detail: string
  /** What the operator should do, when the detail does not say it. */
  readonly remedy?: string
}

/** A finding without its kind of check. */
export type Judgement = Omit<Finding, 'of'>

/** Sorts findings in the order of `checkKinds`. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => checkKinds.indexOf(a.of) - checkKinds.indexOf(b.of))
}

/**
 * Formats a finding as one line, for example
 * `fail  endpoint crm/0 https://crm.example.com: connection refused; is the server up?`
 */
export function formatFinding({ of, level, which, detail, remedy }: Finding): string {
  const subject = which === undefined ? of : `${of} ${which}`
  return `${level.padEnd(4)}  ${subject}: ${detail}${remedy === undefined ? '' : `; ${remedy}`}`
}
