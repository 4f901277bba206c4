import { objectMeanings } from '../../../src/adapters/http/openapi-operation-and-error-codes.ts'
import type { ProblemCode } from '../../../src/adapters/http/response-codes-and-bodies.ts'
import type { ObjectRefusalCode } from '../../../src/core/operator/object-refusal.ts'
import type { Meanings } from './rejection-meanings.ts'

type Code = Exclude<ObjectRefusalCode, ProblemCode>

const remedies: Readonly<Record<Code, string>> = {
  invalid_query: 'Correct the parameter that `problems` names.',
  invalid_precondition:
    'In `If-Match`, send the `ETag` of the object, for example `"3"`. In `Idempotency-Key`, send for example a UUID.',
  defined_in_file: 'Change that file.',
  encryption_key_missing: 'Set `operator.encryptionKeyFile`, or change the object in the configuration file.',
  rotation_in_progress:
    'Wait until the rotation ends. To replace both secrets immediately, rotate with the overlap `0s`. If the response to the earlier rotation was lost, [go back to the old secret](operator-api.md#rotations).',
  too_many_keys: 'Send `keep` with a number from 0 to 2.',
  too_many_jobs: 'Wait until a job ends, or cancel a job.',
  not_in_use: 'Correct the problems that `GET /v1/destinations/{id}` lists, then send the request again.',
  in_use: 'First remove the id from the objects and settings that `problems` names.',
  precondition_failed:
    'Read the object, and send the change again with its current `ETag` in `If-Match`. To create an object that does not exist, send `If-None-Match: *`.',
  invalid_object: 'Correct what `problems` lists.',
  idempotency_key_reused:
    'To create a new job, send a new `Idempotency-Key`. To get the earlier job, send the body of the earlier request.',
  precondition_required:
    'Read the object, and send its `ETag` in `If-Match`. To change the object even if its version has changed, send `If-Match: *`.',
}

/** Meaning and remedy of each code of the operator API that `problemMeanings` lacks. */
export const objectOnlyMeanings = Object.fromEntries(
  Object.entries(remedies).map(([code, remedy]) => [code, [sentence(objectMeanings[code as Code]), remedy]]),
) as unknown as Meanings<Code>

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
