import type { LogRecord } from '../../../src/core/ports.ts'
import type { BadSent, OversizedSent } from './message-ledger.ts'
import { type CheckResult, some } from './result-of-a-check.ts'

interface DeadLetter {
  readonly id: string | undefined
  readonly reason: string
  /**
   * Set if the dead letter is truncated: the partition and offset of the original record, the
   * length of the kept part, and the full length of the value (or of a compressed batch that
   * Hookline cannot decompress).
   */
  readonly truncated?: {
    readonly partition: number
    readonly offset: number
    readonly keptBytes: number
    readonly originalBytes: number
  }
}

/** `id` is the id of the original record. */
export function deadLetterOf(
  { value, headers }: Pick<LogRecord, 'value' | 'headers'>,
  id: string | undefined,
): DeadLetter {
  const letter = { id, reason: headers['reason'] ?? 'none' }
  const originalBytes = headers['original-length']
  if (originalBytes === undefined) return letter
  const [partition, offset] = [Number(headers['origin-partition']), Number(headers['origin-offset'])]
  return {
    ...letter,
    truncated: { partition, offset, keptBytes: value?.length ?? 0, originalBytes: Number(originalBytes) },
  }
}

export interface DeadLettersEvidence {
  readonly bad: readonly BadSent[]
  /** The `id` is undefined if the original record has no readable id. */
  readonly deadLetters: readonly DeadLetter[]
  /** Records without an id, each of which must have a truncated dead letter. Default: none. */
  readonly oversized?: readonly OversizedSent[]
}

/** Number of bytes of the value that a truncated dead letter keeps. */
const truncatedBytes = 64 * 1_024

/**
 * Checks that each invalid record has a dead letter with the right reason, or two after a kill, and
 * that the topic has no others.
 */
export function judgeDeadLetters({ bad, deadLetters, oversized = [] }: DeadLettersEvidence): CheckResult {
  const isOf = ({ truncated }: DeadLetter, { partition, offset }: OversizedSent): boolean =>
    truncated?.partition === partition && truncated.offset === offset
  const isOfOversized = (letter: DeadLetter): boolean =>
    letter.id === undefined && letter.reason === 'undecodable' && oversized.some(each => isOf(letter, each))
  const judged = deadLetters.filter(each => !isOfOversized(each))
  const letters = Map.groupBy(judged, ({ id }) => id)
  const reasons = [...letters].flatMap(([id, own]) =>
    [...new Set(own.map(({ reason }) => reason))].map(reason => ({ id, reason })),
  )
  const expected = new Map(bad.map(({ id, reason }) => [id, reason as string]))
  const missing = bad.filter(({ id, acknowledged }) => acknowledged && !letters.has(id))
  const wrong = reasons.flatMap(({ id, reason }) => {
    const due = id === undefined ? undefined : expected.get(id)
    if (due === reason) return []
    return [`${id ?? 'record without an id'} as ${reason}, not ${due ?? 'at all'}`]
  })
  const repeated = [...letters].filter(([id, { length }]) => id !== undefined && length > 2)
  const failures: string[] = []
  if (missing.length > 0)
    failures.push(
      `invalid records missing from the dead-letter topic: ${some(missing.map(({ id, reason }) => `${id}, ${reason}`))}`,
    )
  for (const each of oversized)
    failures.push(
      ...failuresOfTruncated(
        each,
        deadLetters.filter(letter => isOf(letter, each)),
      ),
    )
  if (wrong.length > 0) failures.push(`wrong dead letters: ${some(wrong)}`)
  if (repeated.length > 0)
    failures.push(`more than two dead letters: ${some(repeated.map(([id, { length }]) => `${id}, ${length} times`))}`)
  const counts = Map.groupBy(reasons, ({ reason }) => reason)
  const byReason = [...counts].map(([reason, all]) => `${all.length} ${reason}`).toSorted()
  return {
    measured: [
      `${expected.size} invalid records were written. Dead-lettered, by reason: ${byReason.join(', ') || 'none'}`,
    ],
    failures,
  }
}

/**
 * Checks that each dead letter has the first 64 KiB and the full length of the value, or of a batch
 * that Hookline cannot decompress.
 */
function failuresOfTruncated(
  { partition, offset, bytes }: OversizedSent,
  letters: readonly DeadLetter[],
): readonly string[] {
  const where = `the oversized record at offset ${offset} of partition ${partition}`
  if (letters.length === 0) return [`${where} has no truncated dead letter`]
  if (letters.length > 2) return [`${where} has ${letters.length} dead letters`]
  return letters.flatMap(({ truncated }) => {
    const { keptBytes = 0, originalBytes = 0 } = truncated ?? {}
    const isRight = bytes === undefined ? originalBytes > truncatedBytes : originalBytes === bytes
    if (keptBytes === truncatedBytes && isRight) return []
    return [`the dead letter of ${where} has ${keptBytes} of ${originalBytes} bytes`]
  })
}
