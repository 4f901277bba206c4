import type { InstallationStatus, PageOfDeadLetters } from '../../api/response-types.ts'

export interface NoFailingText {
  readonly title: string
  readonly reason: string
}

/**
 * Explains an empty list of failing destinations. If all circuit breakers and dead letters are
 * known, no destination fails. Otherwise, a destination may fail. `letters` is the first page of
 * the dead letters of the last hour.
 */
export function noFailingText(
  status: Pick<InstallationStatus, 'openBreakers' | 'partial'> | undefined,
  letters: Pick<PageOfDeadLetters, 'next'> | undefined,
): NoFailingText {
  const hasAllBreakers = status?.openBreakers !== undefined && status.partial !== true
  const hasAllLetters = letters !== undefined && letters.next === undefined
  const breakers = hasAllBreakers
    ? 'No circuit breaker is open.'
    : 'The states of some or all circuit breakers are unknown.'
  const deadLetters = hasAllLetters
    ? 'No destination has dead letters from the last hour.'
    : 'The list of dead letters from the last hour is incomplete or missing.'
  return {
    title:
      hasAllBreakers && hasAllLetters
        ? 'No destination is failing.'
        : 'It is unknown whether destinations are failing.',
    reason: `${breakers} ${deadLetters}`,
  }
}
