import { type Delivery, targetOf } from './ledger.ts'
import type { RetryRecords } from './order.ts'
import type { Injected } from './verdict.ts'

/**
 * Deliveries of one victim: some hundred calls, and what it does in the quarter of a second between
 * two commits. On average of all victims of a scenario.
 */
export const inProgressOfOne = 200
/** How long before the end of a process a delivery may be that comes again: its last commit may be older. */
const uncommittedMs = 1_000
/** A signal takes its time on a busy machine. */
const signalMs = 250

export interface DuplicatesEvidence {
  /** In the order in which they came. */
  readonly deliveries: readonly Delivery[]
  readonly injected: readonly Injected[]
  /** How many records of each message the events topic has, by message id; absent: one. */
  readonly copies: ReadonlyMap<string, number>
  /** What is in the retry topics, by target. */
  readonly retried: ReadonlyMap<string, Pick<RetryRecords, 'writtenAt'>>
  /** Factor on every time, for a machine that is busy with other things. */
  readonly patience: number
}

/** Deliveries beyond the first of their target, by their cause. */
export interface Duplicates {
  /** The events topic has the message more than once: its sender wrote it again. */
  readonly bySender: number
  /**
   * A process had them in progress, or done or moved to a retry topic and not yet committed, when it was killed or frozen: one
   * for each.
   */
  readonly inProgress: number
  /** Neither: ours. */
  readonly ours: readonly string[]
}

/** A target that was delivered, and the excuses for one more delivery that are left. */
interface Known {
  readonly unspent: Delivery[]
  latest: Delivery
  copiesLeft: number
  retriesLeft: number
}

/** Attributes each delivery beyond the first; no cause excuses more than one. */
export function attributed(evidence: DuplicatesEvidence): Duplicates {
  const { injected, copies, retried, patience } = evidence
  const targets = new Map<string, Known>()
  const ours: string[] = []
  let bySender = 0
  let inProgress = 0
  for (const delivery of evidence.deliveries) {
    const target = targetOf(delivery)
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
      injected.some(hit => isUncommitted(hit, before, patience) || isBegunBefore(hit, delivery, patience)),
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
    } else
      ours.push(
        `${target} by ${latest.process}${relativeTo(injected, latest.at)}, ${Math.round(delivery.at - latest.at)} ms later by ${delivery.process}`,
      )
    unspent.push(delivery)
    known.latest = delivery
  }
  return { bySender, inProgress, ours }
}

/** Made by a victim, of a message that was sent before it was hit. */
const isOfVictim = ({ victims, at }: Injected, { process, sent }: Delivery, patience: number): boolean =>
  victims.includes(process) && sent.at <= at + signalMs * patience

/**
 * The victim had no time left to commit it. A request that comes in after its process is dead or
 * frozen was sent before, however late a busy endpoint reads it.
 */
const isUncommitted = (hit: Injected, delivery: Delivery, patience: number): boolean =>
  isOfVictim(hit, delivery, patience) &&
  delivery.at >= hit.at - uncommittedMs * patience &&
  delivery.at < (hit.healedAt ?? Number.POSITIVE_INFINITY)

/** A victim may have written it to a retry topic without the time to commit that: the next owner delivers or defers the record again. */
const isWrittenUncommitted = ({ victims, at }: Injected, written: number, patience: number): boolean =>
  victims.length > 0 && written >= at - uncommittedMs * patience && written <= at + signalMs * patience

/** A call that a frozen process had begun, whose request goes out when it is thawed: nothing can hold it back. */
const isBegunBefore = (hit: Injected, delivery: Delivery, patience: number): boolean =>
  isOfVictim(hit, delivery, patience) &&
  hit.healedAt !== undefined &&
  delivery.at >= hit.healedAt &&
  delivery.at <= hit.healedAt + signalMs * patience

/** ` 300 ms before SIGKILL p1`, of the fault that is nearest. */
export function relativeTo(injected: readonly Injected[], moment: number): string {
  const distance = ({ at }: Injected): number => Math.abs(moment - at)
  const [nearest] = injected.toSorted((a, b) => distance(a) - distance(b))
  if (nearest === undefined) return ''
  return ` ${Math.round(distance(nearest))} ms ${moment < nearest.at ? 'before' : 'after'} ${nearest.what}`
}
