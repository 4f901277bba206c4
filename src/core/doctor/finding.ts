/** What is looked at, in the order in which it is told. */
export const examined = [
  'configuration',
  'kafka',
  'access',
  'topics',
  'registry',
  'clock',
  'endpoint',
  'transport',
] as const
export type Examined = (typeof examined)[number]

/** `warn`: works, and will not for long or not for everybody. `fail`: deliveries do not work as they should. */
export type Level = 'ok' | 'warn' | 'fail'

/** One thing that was checked, and what was seen. */
export interface Finding {
  readonly of: Examined
  readonly level: Level
  /** Which one of its kind: a broker, a topic, an endpoint. */
  readonly which?: string
  /** One line. */
  readonly detail: string
  /** What to do; where the detail does not say it already. */
  readonly remedy?: string
}

/** The form of a finding without what it is of. */
export type Judgement = Omit<Finding, 'of'>

/** In the order of `examined`, each kind as it was found. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => examined.indexOf(a.of) - examined.indexOf(b.of))
}

/** `fail  endpoint crm/0 https://crm.example.com: connection refused; is the server up?` */
export function lineOf({ of, level, which, detail, remedy }: Finding): string {
  const subject = which === undefined ? of : `${of} ${which}`
  return `${level.padEnd(4)}  ${subject}: ${detail}${remedy === undefined ? '' : `; ${remedy}`}`
}

/** `1 topic`, `2 topics` */
export const numbered = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
