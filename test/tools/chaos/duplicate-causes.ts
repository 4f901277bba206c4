import type { Injected } from './delivery-verdict.ts'
import { type Delivery, targetOf } from './message-ledger.ts'
import { type RetryRecords, signalMs } from './order-verdict.ts'

/**
 * Maximum average number of repeated deliveries for each killed or frozen process. One process can
 * make more than 250 deliveries between two commits.
 */
export const inProgressOfOne = 300
/**
 * Maximum ms between a delivery and the commit of its record. A commit waits for all earlier
 * records of the partition.
 */
const uncommittedMs = 1_500

export interface DuplicatesEvidence {
  /** In order of arrival. */
  readonly deliveries: readonly Delivery[]
  readonly injected: readonly Injected[]
  /**
   * Number of records of each message on the events topic, by message id. An absent message has one
   * record.
   */
  readonly copies: ReadonlyMap<string, number>
  /** Records in the retry topics, by `<destination> <message id>`. */
  readonly retried: ReadonlyMap<string, Pick<RetryRecords, 'writtenAt'>>
  /** Multiplies every time limit, for a busy machine. */
  readonly patience: number
}

/** Deliveries of a message to a destination beyond the first one, by cause. */
export interface Duplicates {
  readonly bySender: number
  /** Duplicates because a process was killed or frozen before it committed the earlier delivery. */
  readonly inProgress: number
  /** Descriptions of the duplicates without one of these causes: errors of Hookline. */
  readonly ours: readonly string[]
}

/**
 * Deliveries of a message to a destination, and the remaining possible causes of a further
 * delivery.
 */
interface Known {
  /** Deliveries that are not yet the cause of a later delivery. */
  readonly unspent: Delivery[]
  latest: Delivery
  copiesLeft: number
  retriesLeft: number
}

/**
 * Finds the cause of each repeated delivery. Each interrupted delivery, each retry record and each
 * copy by the sender explains at most one repeated delivery.
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

/** Returns the few targets with several deliveries. Only these need the state `Known`. */
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
 * Whether a victim of the fault made this delivery, and the message was sent before the fault. The
 * signal may reach the victim up to `signalMs` late.
 */
const isOfVictim = (
  { victims, at, victimsAt = at }: Injected,
  { process, sent }: Delivery,
  patience: number,
): boolean => victims.includes(process) && sent.at <= victimsAt + signalMs * patience

/**
 * Whether a victim had no time to commit the delivery. A busy endpoint may read the request late,
 * so deliveries during the fault are included.
 */
const isUncommitted = (hit: Injected, delivery: Delivery, patience: number): boolean =>
  isOfVictim(hit, delivery, patience) &&
  delivery.at >= (hit.victimsAt ?? hit.at) - uncommittedMs * patience &&
  delivery.at < (hit.healedAt ?? Number.POSITIVE_INFINITY)

/**
 * Whether a record was written to a retry topic just before a fault, so that its writer may not
 * have committed the original record.
 */
const isWrittenUncommitted = ({ victims, at, victimsAt = at }: Injected, written: number, patience: number): boolean =>
  victims.some(mayWriteRetries) &&
  written >= victimsAt - uncommittedMs * patience &&
  written <= victimsAt + signalMs * patience

/** Names of collectors begin with `c`, and names of operator processes with `o`. */
const mayWriteRetries = (name: string): boolean => !/^[co]\d+$/.test(name)

/**
 * Whether a frozen process began the request before the fault, and the request arrived when the
 * process was continued.
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

const responseOf = ({ at, endedAt }: Delivery): string =>
  endedAt === undefined ? '' : ` (first response after ${Math.round(endedAt - at)} ms)`
