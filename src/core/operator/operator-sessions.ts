import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { OperatorKey } from '../settings/settings.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { createFindOperatorKey, type NamedKey } from './operator-keys.ts'

/** How long a session lasts after the sign-in. */
export const sessionLifetime: DurationMs = durationMs(12 * 3_600_000)
/**
 * Maximum length of a token, in characters. Hookline's tokens are shorter: they contain the name of
 * an operator key, which has at most 63 characters.
 */
const maxTokenLength = 1_000

/** A session of a browser that signed in with an operator key. */
export interface Session {
  /** Identifies the session in the audit log. */
  readonly id: string
  /** The text that each request with a change must repeat in a header (CSRF protection). */
  readonly csrfToken: string
}

/** The operator key of a request, and its session if the request had a session cookie. */
export interface Operator extends NamedKey {
  readonly session?: Session
}

export type SessionFound =
  | { readonly kind: 'found'; readonly operator: Required<Operator> }
  /** The token is genuine, but its session has ended. */
  | { readonly kind: 'expired' }
  /** The token is forged or altered, or its operator key is no longer configured. */
  | { readonly kind: 'unknown' }

export interface BegunSession {
  readonly operator: Required<Operator>
  /** The value of the session cookie. */
  readonly token: string
}

/** Begins and finds sessions. A reload of the configuration replaces the object. */
export interface OperatorSessions {
  /** Begins a session with an operator key; `undefined` when `given` is not a configured key. */
  begin(given: string, id: string, now: EpochMs): BegunSession | undefined
  find(token: string, now: EpochMs): SessionFound
}

interface Content {
  readonly name: string
  readonly id: string
  readonly expiresAt: EpochMs
}

/**
 * Creates sessions that need no stored state. The token contains the name of the operator key and
 * the end of the session, signed with a secret derived from the key. So every operator process
 * accepts the token, and it becomes invalid when its key is removed or rotated.
 */
export function createOperatorSessions(keys: readonly OperatorKey[]): OperatorSessions {
  const findKey = createFindOperatorKey(keys)
  const signers = keys.flatMap(({ name, role, secrets }) =>
    secrets.map(secret => ({ key: { name, role }, signingSecret: signingSecretOf(secret.reveal()) })),
  )
  const operatorOf = (key: NamedKey, id: string, signingSecret: Buffer, payload: string): Required<Operator> => ({
    ...key,
    session: { id, csrfToken: macOf(signingSecret, `csrf ${payload}`) },
  })

  return {
    begin(given, id, now) {
      const key = findKey(given)
      if (key === undefined) return undefined
      const signingSecret = signingSecretOf(given)
      const content: Content = { name: key.name, id, expiresAt: epochMs(now + sessionLifetime) }
      const payload = Buffer.from(JSON.stringify(content)).toString('base64url')
      const token = `${payload}.${macOf(signingSecret, `session ${payload}`)}`
      return { token, operator: operatorOf(key, id, signingSecret, payload) }
    },
    find(token, now) {
      if (token.length > maxTokenLength) return { kind: 'unknown' }
      const [payload = '', mac = '', ...others] = token.split('.')
      const signer = signers.find(each => isEqual(macOf(each.signingSecret, `session ${payload}`), mac))
      if (signer === undefined || others.length > 0) return { kind: 'unknown' }
      const { name, id, expiresAt } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Content
      if (name !== signer.key.name) return { kind: 'unknown' }
      if (now >= expiresAt) return { kind: 'expired' }
      return { kind: 'found', operator: operatorOf(signer.key, id, signer.signingSecret, payload) }
    },
  }
}

/** Compares a secret with a given text, in a time that does not depend on where they differ. */
export function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Derives the secret that signs sessions. The secret does not reveal the operator key (RFC 5869).
 */
const signingSecretOf = (key: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'hookline session', 32))

const macOf = (secret: Buffer, text: string): string => createHmac('sha256', secret).update(text).digest('base64url')
