import { assertNever } from '../assert-never.ts'
import type { ChangeOutcome, ConfigObject, Expected } from '../config-objects/config-objects.ts'
import { invalidObject, type ObjectRefusal, objectRefusal } from './object-refusal.ts'
import type { ObjectChanged } from './objects-api.ts'
import type { Precondition } from './precondition.ts'

/** Seconds after which a client may repeat a change that Kafka did not confirm. */
const retryAfter = 5

/** What a change expects of the object that is in force. */
export function expectedBy(precondition: Precondition): Expected {
  switch (precondition.kind) {
    case 'version':
      return { kind: 'version', version: precondition.version }
    case 'absent':
      return { kind: 'absent' }
    case 'exists':
    case 'none':
      return { kind: 'any' }
    default:
      return assertNever(precondition)
  }
}

/** The answer to a change. `precondition` is the one of the request. */
export function answerTo(outcome: ChangeOutcome, precondition: Precondition): ObjectChanged | ObjectRefusal {
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
        'operator.encryptionKeyFile is not set, so objects can only be changed in the configuration file: set it, or change that file.',
      )
    case 'unavailable':
      return objectRefusal(
        'unavailable',
        `Kafka did not confirm the change (${outcome.detail}). It may be in force: read the object before you send the change again.`,
        { retryAfter },
      )
    default:
      return assertNever(outcome)
  }
}

function conflictWith(version: number | undefined, { kind }: Precondition): ObjectRefusal {
  if (version === undefined)
    return objectRefusal('precondition_failed', 'There is no object with this id: send If-None-Match: * to create it.')
  if (kind === 'absent')
    return objectRefusal(
      'precondition_failed',
      `The object exists, with version ${version}: send If-Match to change it.`,
      { version },
    )
  return objectRefusal(
    'precondition_failed',
    `The object has version ${version}: read it, and send the change again for that version.`,
    { version },
  )
}

export const notFound = objectRefusal('not_found', 'There is no object with this id: check the id.')

export const definedInFile = objectRefusal(
  'defined_in_file',
  'The configuration file defines this object, so only a change of that file can change it.',
)

/**
 * The refusal of a replacement, a patch or a deletion without a precondition: it could overwrite a
 * change that the client has not seen.
 */
export const preconditionRequired = ({ version }: Pick<ConfigObject, 'version'>): ObjectRefusal =>
  objectRefusal(
    'precondition_required',
    `The object exists, with version ${version}: send If-Match with the version that you have read, or If-Match: * for any version.`,
    { version },
  )
