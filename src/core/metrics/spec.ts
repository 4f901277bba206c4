/** The form in which metrics are declared; the tables are beside this file, their sum is `core/metrics/metrics.ts`. */

/** What it is looked at for: a rule, a panel, or nothing until somebody searches for a cause. A test holds it to the rules and dashboards. */
export type Use = 'alert' | 'dashboard' | 'debug'

/** A label whose values are not in the code: what they are, and so what bounds them. Never a URL, a user or a message. */
export interface OpenLabel {
  readonly values: string
  /** What there is no room for is counted under `_other`. */
  readonly folds: boolean
}

/** By name, in the order of the exposition. A list is the closed set of the values. */
export type LabelSet = Readonly<Record<string, readonly string[] | OpenLabel>>

interface Facts<Labels extends LabelSet> {
  /** What one of it is: seconds, bytes, calls, … */
  readonly unit: string
  readonly use: Use
  readonly labels?: Labels
}

export interface MetricSpec<Kind extends 'counter' | 'gauge' | 'histogram', Labels extends LabelSet> {
  readonly kind: Kind
  readonly name: string
  readonly help: string
  readonly unit: string
  readonly use: Use
  readonly labels: Labels
  /** Histograms: upper bounds in the unit. */
  readonly buckets: readonly number[]
  /** Observations that are part of a kept trace are shown with its id. */
  readonly exemplar?: true
}

// biome-ignore lint/complexity/noBannedTypes: a metric without labels has exactly none
type NoLabels = {}

const declared = <Kind extends 'counter' | 'gauge' | 'histogram', Labels extends LabelSet>(
  kind: Kind,
  name: string,
  help: string,
  { unit, use, labels }: Facts<Labels>,
  buckets: readonly number[] = [],
): MetricSpec<Kind, Labels> => ({ kind, name, help, unit, use, labels: labels ?? ({} as Labels), buckets })

export const counter = <const Labels extends LabelSet = NoLabels>(name: string, help: string, facts: Facts<Labels>) =>
  declared('counter', name, help, facts)
export const gauge = <const Labels extends LabelSet = NoLabels>(name: string, help: string, facts: Facts<Labels>) =>
  declared('gauge', name, help, facts)
export const histogram = <const Labels extends LabelSet = NoLabels>(
  name: string,
  help: string,
  facts: Facts<Labels> & { readonly buckets: readonly number[] },
) => declared('histogram', name, help, facts, facts.buckets)
/** One whose observations lead to traces: of each bucket the last one that is part of a kept trace. Without labels, so that these stay few. */
export const tracedHistogram = (
  name: string,
  help: string,
  facts: Omit<Facts<NoLabels>, 'labels'> & { readonly buckets: readonly number[] },
) => ({ ...declared<'histogram', NoLabels>('histogram', name, help, facts, facts.buckets), exemplar: true as const })

/** What a value of each label is: one of the closed set, or any text. */
export type LabelsOf<Labels extends LabelSet> = {
  readonly [Name in keyof Labels]: Labels[Name] extends readonly (infer Value)[] ? Value : string
}

/** The open labels, each declared once. */
export const openLabels = {
  destination: { values: 'ids of destinations in the configuration', folds: true },
  webhook: { values: 'ids of webhooks in the configuration, else their positions `0` to `4`', folds: true },
  source: { values: 'ids of sources in the configuration', folds: true },
  topic: { values: 'topics of this installation', folds: false },
  partition: { values: 'partitions that this process has', folds: false },
  tier: { values: 'how long a record waits in a retry topic: `10s`, `30s`, …', folds: false },
  check: { values: 'what `/readyz?verbose` and `/livez?verbose` list', folds: false },
} as const satisfies LabelSet

/** How many series one process may expose: each costs Prometheus memory for as long as it keeps it, whoever looks at it. */
export const seriesBudget = {
  /** All of it, as an aim: what Kafka's partitions and the closed sets take is bounded by the cluster and by the code. */
  inProcess: 10_000,
  /** Series with labels that fold. Beyond it whatever is new is counted under `_other`. */
  folding: 8_000,
  /** Beyond it a new series keeps its destination, but not its webhook. */
  detailed: 6_000,
} as const

/** The value of a label for everything that there is no room for. */
export const foldedInto = '_other'
