import { textOf } from '../core/message/identifiers.ts'
import { UsageError } from './command.ts'

/** The values of `--user`, each once. @throws UsageError for an empty one. */
export function userIdsOf(typed: readonly string[]): readonly string[] {
  const ids = typed.map(textOf)
  if (ids.every(id => id !== undefined)) return [...new Set(ids)]
  throw new UsageError('--user must not be empty')
}
