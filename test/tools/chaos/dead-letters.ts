import { type Examined, some } from './examined.ts'
import type { BadSent } from './ledger.ts'

interface DeadLetter {
  readonly id: string | undefined
  readonly reason: string
}

export interface DeadLettersEvidence {
  readonly bad: readonly BadSent[]
  /** What lies in the dead-letter topic: which record it is of, undefined for one that does not say, and why. */
  readonly deadLetters: readonly DeadLetter[]
  /** Records whose headers could not be read; 0. */
  readonly withoutId?: number
}

/**
 * Whether each bad record, and nothing else, is in the dead-letter topic with its reason. After a kill one may be there twice,
 * under one key. Of what could not be read at all only the position is known: these have no id.
 */
export function judgeDeadLetters({ bad, deadLetters, withoutId = 0 }: DeadLettersEvidence): Examined {
  const isNameless = ({ id, reason }: DeadLetter): boolean => id === undefined && reason === 'undecodable'
  const nameless = deadLetters.filter(isNameless).length
  const isExpected = nameless <= withoutId * 2
  const judged = isExpected ? deadLetters.filter(each => !isNameless(each)) : deadLetters
  const reasons = new Map(judged.map(({ id, reason }) => [id, reason]))
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
  if (nameless < withoutId)
    failures.push(`records without an id that are in no dead-letter topic: ${withoutId - nameless} of ${withoutId}`)
  if (wrong.length > 0) failures.push(`dead letters that should not be as they are: ${some(wrong)}`)
  const counts = Map.groupBy(reasons.values(), reason => reason)
  const byReason = [...counts].map(([reason, all]) => `${all.length} ${reason}`).toSorted()
  return {
    measured: [`${expected.size} bad records, dead-lettered: ${byReason.join(', ') || 'none'}`],
    failures,
  }
}
