import type { ConfigObject } from '../config-objects/config-objects.ts'
import { formatPath, maxProblems, type SettingsProblem } from '../settings/settings-problem.ts'

/** Why a request about configuration objects is refused, with the HTTP status. */
export const objectRefusalStatus = {
  invalid_json: 400,
  invalid_body: 400,
  invalid_query: 400,
  invalid_precondition: 400,
  not_found: 404,
  defined_in_file: 409,
  encryption_key_missing: 409,
  rotation_in_progress: 409,
  too_many_keys: 409,
  too_many_jobs: 409,
  not_in_use: 409,
  in_use: 409,
  precondition_failed: 412,
  invalid_object: 422,
  idempotency_key_reused: 422,
  precondition_required: 428,
  unavailable: 503,
} as const

export type ObjectRefusalCode = keyof typeof objectRefusalStatus

/** One problem of a request or of an object, for people. The problem never contains a secret. */
export interface ShownProblem {
  /** The place in the document, for example `webhooks[0].url`; empty for the whole document. */
  readonly path: string
  readonly message: string
  readonly hint: string
}

export interface ObjectRefusal {
  readonly kind: 'refused'
  readonly code: ObjectRefusalCode
  /** Says what is wrong and what to do. */
  readonly message: string
  readonly problems: readonly ShownProblem[]
  /** The version in force, if the object exists and the precondition is false or missing. */
  readonly version?: number | undefined
  /** Seconds until the client may retry, for `unavailable`. */
  readonly retryAfter?: number | undefined
}

export const objectRefusal = (
  code: ObjectRefusalCode,
  message: string,
  more: Partial<Pick<ObjectRefusal, 'problems' | 'version' | 'retryAfter'>> = {},
): ObjectRefusal => ({ kind: 'refused', code, message, problems: [], ...more })

/** Converts problems of a configuration to at most 100 problems of a response. */
export const shownProblems = (problems: readonly SettingsProblem[]): readonly ShownProblem[] =>
  problems.slice(0, maxProblems).map(({ path, message, hint, first }) => ({
    path: formatPath(path),
    message,
    hint: [hint, first && `see ${formatPath(first)}`].filter(part => part !== undefined).join('; '),
  }))

export const invalidObject = (problems: readonly SettingsProblem[]): ObjectRefusal =>
  objectRefusal(
    'invalid_object',
    'The document is not valid, and nothing was changed: correct the problems in the list "problems".',
    { problems: shownProblems(problems) },
  )

export const notFound = objectRefusal('not_found', 'There is no object with this id: check the id.')

export const definedInFile = objectRefusal(
  'defined_in_file',
  'The configuration file defines this object, so the operator API cannot change it: change it in that file.',
)

/**
 * Refuses a change without a precondition, because it could overwrite a change that the client has
 * not seen.
 */
export const preconditionRequired = ({ version }: Pick<ConfigObject, 'version'>): ObjectRefusal =>
  objectRefusal(
    'precondition_required',
    `The change needs the header If-Match, because the object already exists (version ${version}): send the ETag that you have read, or * for any version.`,
    { version },
  )
