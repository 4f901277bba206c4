import { allowLaterEvents } from '../../core/deletion/suppressions.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'

/**
 * Lifts the suppression for new events; events from before the deletion stay stopped. Resolves with
 * the affected users.
 */
export async function liftSuppression(
  { suppressions }: { readonly suppressions: Pick<SuppressionList, 'get' | 'update'> },
  userIds: readonly string[],
): Promise<readonly string[]> {
  const suppressed = userIds.filter(userId => suppressions.get(userId)?.some(({ isSuppressed }) => isSuppressed))
  await Promise.all(suppressed.map(id => suppressions.update(id, current => current && allowLaterEvents(current))))
  return suppressed
}
