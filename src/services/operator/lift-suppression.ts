import { allowLaterEvents } from '../../core/deletion/suppressions.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'

/**
 * Lifts the suppression of users, so that their later events are delivered again. Events from
 * before the deletion stay stopped. Resolves with the users that were suppressed.
 */
export async function liftSuppression(
  { suppressions }: { readonly suppressions: Pick<SuppressionList, 'get' | 'update'> },
  userIds: readonly string[],
): Promise<readonly string[]> {
  const suppressed = userIds.filter(userId => suppressions.get(userId)?.some(({ isSuppressed }) => isSuppressed))
  await Promise.all(suppressed.map(id => suppressions.update(id, current => current && allowLaterEvents(current))))
  return suppressed
}
