import { assertNever } from '../assert-never.ts'
import type { Expected } from '../config-objects/config-objects.ts'

/** The condition under which a change applies. */
export type Precondition =
  /** `If-Match: "<version>"`: the object has this version. */
  | { readonly kind: 'version'; readonly version: number }
  /** `If-Match: *`: the object exists, with any version. */
  | { readonly kind: 'exists' }
  /** `If-None-Match: *`: the object does not exist. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'none' }

export type PreconditionRead =
  | Precondition
  | {
      readonly kind: 'invalid'
      readonly header: 'If-Match' | 'If-None-Match'
      readonly message: string
      readonly hint: string
    }

/** The entity tag of a version (RFC 9110 8.8.3). */
export const etagOf = (version: number): string => `"${version}"`

/** Reads the precondition of a request (RFC 9110 13.1). */
export function preconditionOf(headers: {
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
}): PreconditionRead {
  const [ifMatch, ifNoneMatch] = [headers.ifMatch?.trim(), headers.ifNoneMatch?.trim()]
  if (ifNoneMatch !== undefined) {
    const header = 'If-None-Match'
    if (ifMatch !== undefined)
      return {
        kind: 'invalid',
        header,
        message: 'cannot be combined with If-Match',
        hint: 'send either If-Match or If-None-Match, not both',
      }
    return ifNoneMatch === '*'
      ? { kind: 'absent' }
      : {
          kind: 'invalid',
          header,
          message: 'must be *',
          hint: '"If-None-Match: *" creates an object; to change an object, send If-Match',
        }
  }
  if (ifMatch === undefined) return { kind: 'none' }
  if (ifMatch === '*') return { kind: 'exists' }
  const [, digits] = /^"(\d{1,15})"$/.exec(ifMatch) ?? []
  return digits === undefined
    ? {
        kind: 'invalid',
        header: 'If-Match',
        message: 'must be * or one version in double quotes',
        hint: 'send the ETag of the object, for example "3"',
      }
    : { kind: 'version', version: Number(digits) }
}

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
