import { callTypes } from '../../../../../src/core/message/message.ts'
import { withoutEmpty } from '../../api/query-parameters.ts'
import { isoOfInput } from '../../components/time-text-and-input-values.ts'

/** The fields of the form as text. Times are local. */
export interface ResendForm {
  readonly destination: string
  readonly since: string
  readonly until: string
  readonly types: readonly string[]
  readonly userIds: string
  readonly rate: string
}

export type ResendRequest =
  | { readonly kind: 'request'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: 'wrong'; readonly message: string }

export function resendRequest({ destination, since, until, types, userIds, rate }: ResendForm): ResendRequest {
  const [from, to] = [isoOfInput(since), isoOfInput(until)]
  if (destination.trim() === '') return { kind: 'wrong', message: 'Choose a destination.' }
  if (from === undefined || to === undefined) return { kind: 'wrong', message: 'Enter a time in "From" and in "To".' }
  if (from >= to) return { kind: 'wrong', message: 'The time in "From" must be before the time in "To".' }
  const users = userIds
    .split('\n')
    .map(each => each.trim())
    .filter(each => each !== '')
  const optional = {
    types: types.length === 0 || types.length === callTypes.length ? undefined : types,
    userIds: users.length === 0 ? undefined : users,
    rate: rate.trim() === '' ? undefined : Number(rate),
  }
  return {
    kind: 'request',
    body: { destination: destination.trim(), since: from, until: to, ...withoutEmpty(optional) },
  }
}
