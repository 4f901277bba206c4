import type { Refused } from '../adapters/operator-client/operator-request.ts'
import { CommandFailed, UsageError } from './create-command.ts'
import { printable } from './terminal-table-and-progress-bar.ts'

/** The error text of a refused request, with its query parameters shown as options. */
export const refusalText = ({ code, message, problems }: Refused): string =>
  printable(
    [`${message} (${code})`, ...problems.map(each => `--${each.path}: ${each.message} (${each.hint})`)].join('; '),
  )

/** The error for a refused request. Problems in the options are a UsageError, with exit code 2. */
export const refusalError = (refused: Refused): CommandFailed | UsageError =>
  refused.code === 'invalid_query' ? new UsageError(refusalText(refused)) : new CommandFailed(refusalText(refused))
