import { assertNever } from '../assert-never.ts'
import type { ChangeOutcome } from '../config-objects/config-objects.ts'
import type { Precondition } from './etag-precondition.ts'
import { definedInFile, invalidObject, notFound, type ObjectRefusal, objectRefusal } from './object-refusal.ts'
import type { ObjectChanged } from './objects-api.ts'

/** Seconds after which a client may repeat a change that Kafka did not confirm. */
const retryAfter = 5

/** Converts the outcome of a change to the response. */
export function responseTo(outcome: ChangeOutcome, precondition: Precondition): ObjectChanged | ObjectRefusal {
  switch (outcome.kind) {
    case 'changed':
      return { kind: 'changed', object: outcome.object, created: outcome.created, fields: outcome.changedFields }
    case 'possible':
      return {
        ...{ kind: 'changed', object: undefined, isDryRun: true },
        ...{ created: outcome.created, fields: outcome.changedFields },
      }
    case 'unchanged':
      return { kind: 'changed', object: outcome.object, created: false, fields: [] }
    case 'conflict':
      return conflictWith(outcome.version, precondition)
    case 'not_found':
      return notFound
    case 'defined_in_file':
      return definedInFile
    case 'refused':
      return invalidObject(outcome.problems)
    case 'disabled':
      return objectRefusal(
        'encryption_key_missing',
        'operator.encryptionKeyFile is not set, so the operator API cannot change destinations and sources: set operator.encryptionKeyFile and restart the processes, or change the destinations and sources in the configuration file.',
      )
    case 'unavailable':
      return objectRefusal(
        'unavailable',
        `Hookline could not make the change, or could not confirm it (${outcome.detail}): read the object before you send the change again.`,
        { retryAfter },
      )
    default:
      return assertNever(outcome)
  }
}

function conflictWith(version: number | undefined, { kind }: Precondition): ObjectRefusal {
  if (version === undefined)
    return objectRefusal(
      'precondition_failed',
      'There is no object with this id: to create it, send the header "If-None-Match: *".',
    )
  if (kind === 'absent')
    return objectRefusal(
      'precondition_failed',
      `The object exists already, with version ${version}: to change the object, send its ETag in the header If-Match.`,
      { version },
    )
  return objectRefusal(
    'precondition_failed',
    `The ETag in If-Match does not match the object, which now has version ${version}: read the object, then send the change again with the ETag of the object.`,
    { version },
  )
}
