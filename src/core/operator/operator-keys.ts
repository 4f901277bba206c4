import { hash, timingSafeEqual } from 'node:crypto'
import type { OperatorKey } from '../settings/settings.ts'

export type NamedKey = Pick<OperatorKey, 'name' | 'role'>

/**
 * Returns the name and role of the operator key that a client sent; `undefined` if the key is not
 * configured.
 */
export type FindOperatorKey = (given: string) => NamedKey | undefined

const digestOf = (text: string): Buffer => Buffer.from(hash('sha256', text), 'hex')

/** The returned function compares digests, so that its duration reveals nothing about a key. */
export function createFindOperatorKey(keys: readonly OperatorKey[]): FindOperatorKey {
  const known = keys.flatMap(({ name, role, secrets }) =>
    secrets.map(secret => ({ key: { name, role }, digest: digestOf(secret.reveal()) })),
  )
  return given => {
    const digest = digestOf(given)
    let found: NamedKey | undefined
    for (const each of known) if (timingSafeEqual(each.digest, digest)) found = each.key
    return found
  }
}
