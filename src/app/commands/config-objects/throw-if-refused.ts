import type { Refused } from '../../../adapters/operator-client/operator-request.ts'
import type { ObjectKind } from '../../../core/config-objects/config-objects.ts'
import { CommandFailed } from '../../create-command.ts'
import { printable } from '../../terminal-table-and-progress-bar.ts'

/**
 * Returns the answer of the operator API.
 * @throws CommandFailed if it is a refusal
 */
export function throwIfRefused<T extends object>(answer: T | Refused, kind: ObjectKind, id: string): T {
  if (!('kind' in answer) || answer.kind !== 'refused') return answer as T
  const refused = answer as Refused
  const advice = refused.code === 'precondition_failed' ? '; run the command again' : ''
  throw new CommandFailed(`${refusalText(refused, kind, id)}${advice}`)
}

/** Why the API refused a request about an object. */
export function refusalText({ code, message, problems }: Refused, kind: ObjectKind, id: string): string {
  const named = `${kind} ${id}`
  switch (code) {
    case 'not_found':
      return `no ${kind} has the id ${id}; see: hookline ${kind}s list`
    case 'defined_in_file':
      return `${named} is defined in the configuration file of the services; change it there`
    case 'precondition_failed':
      return `${named} was changed by another client of the operator API or by Hookline itself while the command ran`
    default:
      return printable([`${named}: ${message} (${code})`, ...problems.map(problemText)].join('; '))
  }
}

/** Formats a problem of an object, or of a request, as one line. */
export const problemText = ({ path, message, hint }: Refused['problems'][number]): string =>
  `${path === '' ? '' : `${path}: `}${message} (${hint})`
