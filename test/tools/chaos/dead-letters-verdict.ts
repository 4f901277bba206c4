import { type CheckResult, some } from './check-result.ts'
import type { BadSent } from './ledger.ts'

interface DeadLetter {
  readonly id: string | undefined
  readonly reason: string
}

export interface DeadLettersEvidence {
  readonly bad: readonly BadSent[]
  /** The dead letters. `id` is undefined when the id of the original record could not be read. */
  readonly deadLetters: readonly DeadLetter[]
  /**
   * Number of records whose headers could not be read, so that their dead letters have no id.
   * Default: 0.
   */
  readonly withoutId?: number
}

/**
 * Judges whether the dead-letter topic has each invalid record with its reason, and nothing else.
 * After a kill, the topic may have a record twice, under one key. If a record could not be read,
 * its dead letter has the record's position, but no id.
 */
export function judgeDeadLetters({ bad, deadLetters, withoutId = 0 }: DeadLettersEvidence): CheckResult {
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
    return [`${id ?? 'record without an id'} as ${reason}, not ${due ?? 'at all'}`]
  })
  const failures: string[] = []
  if (missing.length > 0)
    failures.push(
      `invalid records missing from the dead-letter topic: ${some(missing.map(({ id, reason }) => `${id}, ${reason}`))}`,
    )
  if (nameless < withoutId)
    failures.push(`records without an id missing from the dead-letter topic: ${withoutId - nameless} of ${withoutId}`)
  if (wrong.length > 0) failures.push(`wrong dead letters: ${some(wrong)}`)
  const counts = Map.groupBy(reasons.values(), reason => reason)
  const byReason = [...counts].map(([reason, all]) => `${all.length} ${reason}`).toSorted()
  return { measured: [`${expected.size} invalid records, dead-lettered: ${byReason.join(', ') || 'none'}`], failures }
}
