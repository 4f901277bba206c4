import { type Examined, some } from './examined.ts'
import type { BadSent } from './ledger.ts'

export interface DeadLettersEvidence {
  readonly bad: readonly BadSent[]
  /** What lies in the dead-letter topic: which record it is of, undefined for one that does not say, and why. */
  readonly deadLetters: readonly { readonly id: string | undefined; readonly reason: string }[]
}

/** Whether each bad record, and nothing else, lies in the dead-letter topic with its reason. After a kill one may lie there twice, under one key. */
export function judgeDeadLetters({ bad, deadLetters }: DeadLettersEvidence): Examined {
  const reasons = new Map(deadLetters.map(({ id, reason }) => [id, reason]))
  const expected = new Map(bad.map(({ id, reason }) => [id, reason as string]))
  const missing = bad.filter(({ id, acknowledged }) => acknowledged && !reasons.has(id))
  const wrong = [...reasons].flatMap(([id, reason]) => {
    const due = id === undefined ? undefined : expected.get(id)
    if (due === reason) return []
    return [`${id ?? 'one without id'} as ${reason}, not ${due ?? 'at all'}`]
  })
  const failures: string[] = []
  if (missing.length > 0)
    failures.push(
      `bad records that are in no dead-letter topic: ${some(missing.map(({ id, reason }) => `${id}, ${reason}`))}`,
    )
  if (wrong.length > 0) failures.push(`dead letters that should not be as they are: ${some(wrong)}`)
  const counts = Map.groupBy(reasons.values(), reason => reason)
  const byReason = [...counts].map(([reason, all]) => `${all.length} ${reason}`).toSorted()
  return {
    measured: [`${expected.size} bad records, dead-lettered: ${byReason.join(', ') || 'none'}`],
    failures,
  }
}
