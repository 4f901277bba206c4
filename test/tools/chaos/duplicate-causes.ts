import type { Injected } from './delivery-verdict.ts'
import { type Delivery, targetOf } from './message-ledger.ts'
import { type RetryRecords, signalMs } from './order-verdict.ts'

/**
 * Maximum number of repeated deliveries per killed or frozen process of a scenario, on average. It
 * covers the requests in progress, and the deliveries since the last commit. A process commits
 * every 250 ms. If it has just taken over a backlog, it makes more than 250 deliveries in this
 * time.
 */
export const inProgressOfOne = 300
/**
 * Maximum time between a delivery and the commit of its record, in ms. If the process ends within
 * this time after the delivery, the delivery may be repeated. A process commits every 250 ms. But
 * it commits a record only when all earlier records of the partition are done, and the endpoints of
 * all destinations have responded. The longest measured times were 405 ms in the scenario `killed`,
 * 995 ms in `jobs-killed`, and 1.2 s in `killed-50` on a slow machine while new processes started.
 */
const uncommittedMs = 1_500

export interface DuplicatesEvidence {
  /** Deliveries in the order in which they arrived. */
  readonly deliveries: readonly Delivery[]
  readonly injected: readonly Injected[]
  /**
   * Number of records of each message on the events topic, by message id. A message that this map
   * does not contain has one record.
   */
  readonly copies: ReadonlyMap<string, number>
  /** Records in the retry topics. The keys are `<destination> <message id>`. */
  readonly retried: ReadonlyMap<string, Pick<RetryRecords, 'writtenAt'>>
  /** Factor by which every time limit is multiplied, for a busy machine. */
  readonly patience: number
}

/** Deliveries of a message to a destination beyond the first one, by cause. */
export interface Duplicates {
  /** Number of duplicates because the sender wrote the message again to the events topic. */
  readonly bySender: number
  /**
   * Number of duplicates because a process was killed or frozen before it committed the offset. At
   * this time, the earlier delivery was in progress, was finished, or was moved to a retry topic.
   */
  readonly inProgress: number
  /** Descriptions of the duplicates without one of these causes. They are errors of Hookline. */
  readonly ours: readonly string[]
}

/**
 * State of a message that has reached a destination: its deliveries to this destination, and the
 * causes that may still explain another delivery.
 */
interface Known {
  /** Deliveries that were not yet used to explain a later delivery. */
  readonly unspent: Delivery[]
  latest: Delivery
  copiesLeft: number
  retriesLeft: number
}

/**
 * Attributes each delivery beyond the first one to a cause. An interrupted delivery, a record in a
 * retry topic or a copy by the sender explains at most one further delivery.
 */
export function attributed(evidence: DuplicatesEvidence): Duplicates {
  const { injected, copies, retried, patience } = evidence
  const repeated = repeatedTargets(evidence.deliveries)
  const targets = new Map<string, Known>()
  const ours: string[] = []
  let bySender = 0
  let inProgress = 0
  for (const delivery of evidence.deliveries) {
    const target = targetOf(delivery)
    if (!repeated.has(target)) continue
    const known = targets.get(target)
    if (known === undefined) {
      const copiesLeft = (copies.get(delivery.id) ?? 1) - 1
      const written = retried.get(target)?.writtenAt ?? []
      const retriesLeft = written.filter(at => injected.some(hit => isWrittenUncommitted(hit, at, patience))).length
      targets.set(target, { unspent: [delivery], latest: delivery, copiesLeft, retriesLeft })
      continue
    }
    const { unspent, latest } = known
    const cause = unspent.findIndex(before =>
      injected.some(
        hit =>
          isUncommitted(hit, before, patience) ||
          isBegunBefore(hit, before, patience) ||
          isBegunBefore(hit, delivery, patience),
      ),
    )
    if (cause >= 0) {
      unspent.splice(cause, 1)
      inProgress++
    } else if (known.retriesLeft > 0) {
      known.retriesLeft--
      inProgress++
    } else if (known.copiesLeft > 0) {
      known.copiesLeft--
      bySender++
    } else {
      const after = `${Math.round(delivery.at - latest.at)} ms later by ${delivery.process}`
      ours.push(`${target} by ${latest.process}${relativeTo(injected, latest.at)}, ${after}${responseOf(latest)}`)
    }
    unspent.push(delivery)
    known.latest = delivery
  }
  return { bySender, inProgress, ours }
}

/**
 * Finds the few targets (a message and a destination) with several successful requests. Only these
 * need the state `Known`.
 */
function repeatedTargets(deliveries: readonly Delivery[]): ReadonlySet<string> {
  const once = new Set<string>()
  const repeated = new Set<string>()
  for (const delivery of deliveries) {
    const target = targetOf(delivery)
    if (once.has(target)) repeated.add(target)
    else once.add(target)
  }
  return repeated
}

/**
 * Whether a killed or frozen process made the delivery, and the message was sent before the process
 * received the signal. `signalMs` is a tolerance for the delay of this signal.
 */
const isOfVictim = ({ victims, at }: Injected, { process, sent }: Delivery, patience: number): boolean =>
  victims.includes(process) && sent.at <= at + signalMs * patience

/**
 * Whether a killed or frozen process had no time to commit the delivery. The request of this
 * delivery may arrive after the fault, because a busy endpoint reads it late.
 */
const isUncommitted = (hit: Injected, delivery: Delivery, patience: number): boolean =>
  isOfVictim(hit, delivery, patience) &&
  delivery.at >= hit.at - uncommittedMs * patience &&
  delivery.at < (hit.healedAt ?? Number.POSITIVE_INFINITY)

/**
 * Whether the record was written to a retry topic shortly before a fault of a dispatcher. After
 * this write, the process that has made it commits the record that it has moved. If the process is
 * killed or frozen before this commit, the next owner of the partition delivers or defers the moved
 * record again. The record in the retry topic does not show which process wrote it: the owner of
 * the event's partition, or the owner of the retry topic's partition. So a fault of any process
 * that may write retry records counts.
 */
const isWrittenUncommitted = ({ victims, at }: Injected, written: number, patience: number): boolean =>
  victims.some(mayWriteRetries) && written >= at - uncommittedMs * patience && written <= at + signalMs * patience

/**
 * Whether a process is neither a collector nor an operator process. `world.ts` names the processes.
 */
const mayWriteRetries = (name: string): boolean => !/^[co]\d+$/.test(name)

/**
 * Whether the request arrived just after a frozen process was continued. The process began the
 * request before it was frozen. The new owner of the partition makes the same request, and it may
 * arrive first or second. Hookline cannot prevent this duplicate.
 */
const isBegunBefore = (hit: Injected, delivery: Delivery, patience: number): boolean =>
  isOfVictim(hit, delivery, patience) &&
  hit.healedAt !== undefined &&
  delivery.at >= hit.healedAt &&
  delivery.at <= hit.healedAt + signalMs * patience

/** Describes a time relative to the nearest fault, for example ` 300 ms before SIGKILL p1`. */
export function relativeTo(injected: readonly Injected[], moment: number): string {
  const distance = ({ at }: Injected): number => Math.abs(moment - at)
  const [nearest] = injected.toSorted((a, b) => distance(a) - distance(b))
  if (nearest === undefined) return ''
  return ` ${Math.round(distance(nearest))} ms ${moment < nearest.at ? 'before' : 'after'} ${nearest.what}`
}

/** How long the response of a request took at the endpoint, as text. Empty if it is not known. */
const responseOf = ({ at, endedAt }: Delivery): string =>
  endedAt === undefined ? '' : ` (first response after ${Math.round(endedAt - at)} ms)`
