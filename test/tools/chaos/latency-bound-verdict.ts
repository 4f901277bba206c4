import { type Delivery, type Sent, targetOf } from './message-ledger.ts'
import { type CheckResult, quantile, some } from './result-of-a-check.ts'

/** A period in which a fault of other destinations must not affect the listed destinations. */
export interface Watched {
  /** Name of the period, for example `10 of 50 hang`. */
  readonly what: string
  readonly from: number
  readonly to: number
  readonly destinations: readonly string[]
  /** Partitions to judge. Absent: all. */
  readonly partitions?: ReadonlySet<number>
}

export interface PromptnessEvidence {
  readonly acknowledged: readonly Sent[]
  readonly deliveries: readonly Delivery[]
  readonly watched: readonly Watched[]
  readonly limits: PromptnessLimits
  readonly patience: number
}

export interface PromptnessLimits {
  readonly withinMs: number
  /** Minimum share of the deliveries that arrive within `withinMs`, from 0 to 1. */
  readonly share: number
  /** Maximum time without a delivery of a partition. Absent: not judged. */
  readonly pauseMs?: number
}

export function judgePromptness({ watched, limits, patience, ...seen }: PromptnessEvidence): CheckResult {
  const firsts = firstDeliveries(seen.deliveries)
  const failures: string[] = []
  const measured = watched.map(each => {
    const own = of(each, seen, firsts)
    const withinMs = limits.withinMs * patience
    const inTime = own.latencies.filter(ms => ms <= withinMs).length
    const share = own.latencies.length === 0 ? 0 : inTime / own.latencies.length
    if (share < limits.share)
      failures.push(
        `${each.what}: ${percent(share)} of the deliveries arrived within ${withinMs} ms, minimum ${percent(limits.share)}`,
      )
    const pauseMs = (limits.pauseMs ?? Number.POSITIVE_INFINITY) * patience
    const still = [...own.pauses].filter(([, pause]) => pause > pauseMs)
    if (still.length > 0)
      failures.push(
        `${each.what}: partitions paused too long: ${some(still.map(([partition, pause]) => `${partition} for ${Math.round(pause)} ms`))}`,
      )
    const pause =
      limits.pauseMs === undefined
        ? ''
        : `. The longest pause of a partition was ${Math.round(Math.max(...own.pauses.values()))} ms`
    const perSecond = Math.round((own.latencies.length * 1_000) / (each.to - each.from))
    return (
      `${each.what}: ${perSecond} deliveries a second. 50 % arrived within ${ms(own.latencies, 0.5)}, 99 % within ` +
      `${ms(own.latencies, 0.99)}, and ${percent(share)} within ${withinMs} ms${pause}`
    )
  })
  return { measured, failures }
}

/**
 * Returns the latencies of the messages sent in the period (infinite without a delivery), and each
 * partition's longest time without a delivery.
 */
function of(
  { from, to, destinations, partitions }: Watched,
  { acknowledged, deliveries }: Pick<PromptnessEvidence, 'acknowledged' | 'deliveries'>,
  firsts: Firsts,
) {
  const sent = acknowledged.filter(({ at, partition }) => at >= from && at < to && (partitions?.has(partition) ?? true))
  const latencies = sent.flatMap(({ id, at }) =>
    destinations.map(destination => (firsts.get(targetOf({ id, destination })) ?? Number.POSITIVE_INFINITY) - at),
  )
  const isWatched = ({ at, destination }: Delivery): boolean =>
    at >= from && at < to && destinations.includes(destination)
  const watched = Map.groupBy(deliveries.filter(isWatched), each => each.sent.partition)
  const pauses = new Map(
    [...new Set(sent.map(({ partition }) => partition))].map(partition => {
      const moments = [...(watched.get(partition) ?? []).map(({ at }) => at), to]
      return [partition, Math.max(...moments.map((moment, index) => moment - (moments[index - 1] ?? from)))]
    }),
  )
  return { latencies, pauses }
}

type Firsts = ReadonlyMap<string, number>

function firstDeliveries(deliveries: readonly Delivery[]): Firsts {
  const firsts = new Map<string, number>()
  for (const delivery of deliveries) {
    const target = targetOf(delivery)
    if (!firsts.has(target)) firsts.set(target, delivery.at)
  }
  return firsts
}

const percent = (share: number): string => `${(Math.floor(share * 1e4) / 100).toFixed(2)} %`
const ms = (latencies: readonly number[], share: number): string => `${Math.round(quantile(latencies, share))} ms`
