/** Types and functions to declare metrics. */

/**
 * What uses the metric. A test compares `alert` with the alert rules, and `dashboard` with the
 * dashboards.
 */
export type Use = 'alert' | 'dashboard' | 'debug'

/**
 * A label whose values come from the configuration or environment, as described in `values`. These
 * values never contain a URL, a user or message content.
 */
export interface OpenLabel {
  readonly values: string
  /**
   * Whether `_other` replaces new values when the process has reached its limit of series
   * (`seriesBudget`).
   */
  readonly canOverflow: boolean
}

/**
 * Labels in the order in which `/metrics` shows them. A list contains all possible values of its
 * label.
 */
export type LabelSet = Readonly<Record<string, readonly string[] | OpenLabel>>

interface Facts<Labels extends LabelSet> {
  /** The unit, for example seconds, bytes or requests. */
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
  /** Upper bounds of the buckets of a histogram, in the metric's unit. */
  readonly buckets: readonly number[]
  /** Whether observations of sampled traces carry the trace id as an exemplar. */
  readonly exemplar?: true
}

// biome-ignore lint/complexity/noBannedTypes: `{}` means that the metric has no labels
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
/**
 * A histogram with exemplars: each bucket shows the last observation of a sampled trace. It has no
 * labels, to limit the number of exemplars.
 */
export const tracedHistogram = (
  name: string,
  help: string,
  facts: Omit<Facts<NoLabels>, 'labels'> & { readonly buckets: readonly number[] },
) => ({ ...declared<'histogram', NoLabels>('histogram', name, help, facts, facts.buckets), exemplar: true as const })

/** The type of each label's value: one of the listed values, or any text for an `OpenLabel`. */
export type LabelsOf<Labels extends LabelSet> = {
  readonly [Name in keyof Labels]: Labels[Name] extends readonly (infer Value)[] ? Value : string
}

export const openLabels = {
  destination: { values: 'ids of destinations in the configuration', canOverflow: true },
  webhook: {
    values: 'ids of webhooks in the configuration, or their positions `0` to `4` when they have no id',
    canOverflow: true,
  },
  source: { values: 'ids of sources in the configuration', canOverflow: true },
  topic: { values: 'Kafka topics of this installation', canOverflow: false },
  partition: { values: 'partitions assigned to this process', canOverflow: false },
  tier: { values: 'how long deliveries wait in the retry topic: `10s`, `30s`, …', canOverflow: false },
  check: { values: 'names of the checks that `/readyz?verbose` and `/livez?verbose` list', canOverflow: false },
} as const satisfies LabelSet

/** Limits of the time series that one process exposes. Each series costs memory in Prometheus. */
export const seriesBudget = {
  /** Target for all series of a process. The process enforces only the two limits below. */
  target: 10_000,
  /**
   * Maximum number of series with a `canOverflow` label. Above it, counters count new label values
   * as `_other`, and gauges omit series with new label values.
   */
  maxOverflowing: 8_000,
  /**
   * Above this number of series with a `canOverflow` label, `_other` replaces new values of
   * `webhook`, to leave room for further destinations.
   */
  maxBeforeWebhookOverflows: 6_000,
} as const

/** The label value that replaces new values when the limit of series is reached. */
export const overflowLabelValue = '_other'
