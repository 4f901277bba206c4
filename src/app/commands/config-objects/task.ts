import type { OperatorClient } from '../../../adapters/operator-client/operator-client.ts'
import type { Refused } from '../../../adapters/operator-client/operator-request.ts'
import type { ObjectKind } from '../../../core/config-objects/config-objects.ts'
import { CommandFailed, type CommandIo } from '../../command.ts'
import { printable } from '../../terminal.ts'

/** What a command for destinations or sources uses. */
export interface ObjectTask {
  readonly io: CommandIo
  readonly client: OperatorClient
  readonly kind: ObjectKind
}

/** The work of a command. `id` is its argument. */
export type ObjectWork<Options> = (task: ObjectTask, options: Options, id: string) => Promise<void>

/**
 * The answer, unless it is a refusal.
 * @throws CommandFailed that says why the API refused
 */
export function accepted<T extends object>(answer: T | Refused, kind: ObjectKind, id: string): T {
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
      return `${named} was changed by another writer`
    default:
      return printable([`${named}: ${message} (${code})`, ...problems.map(problemText)].join('; '))
  }
}

/** A problem of an object or a request on one line. */
export const problemText = ({ path, message, hint }: Refused['problems'][number]): string =>
  `${path === '' ? '' : `${path}: `}${message} (${hint})`
