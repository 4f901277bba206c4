import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { OperatorKey } from '../settings/settings.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { createFindOperatorKey, type NamedKey } from './operator-keys.ts'

/** How long a session lasts after the sign-in. */
export const sessionLifetime: DurationMs = durationMs(12 * 3_600_000)
/** Maximum length of a token, in characters. Hookline's tokens are shorter. */
const maxTokenLength = 1_000

export interface Session {
  /** Identifies the session in the audit log. */
  readonly id: string
  /** The text that each request with a change must repeat in a header (CSRF protection). */
  readonly csrfToken: string
}

/**
 * The name and role of the operator key behind a request. `session` is set if a session cookie
 * authenticated the request.
 */
export interface Operator extends NamedKey {
  readonly session?: Session
}

export type SessionFound =
  | { readonly kind: 'found'; readonly operator: Required<Operator> }
  /** The token is genuine, but its session has ended. */
  | { readonly kind: 'expired' }
  /** The token is forged, or its operator key is not configured now. */
  | { readonly kind: 'unknown' }

export interface BegunSession {
  readonly operator: Required<Operator>
  /** The value of the session cookie. */
  readonly token: string
}

export interface OperatorSessions {
  /** Signs in with an operator key; `undefined` when `given` is not a configured key. */
  begin(given: string, id: string, now: EpochMs): BegunSession | undefined
  find(token: string, now: EpochMs): SessionFound
}

interface Content {
  readonly name: string
  readonly id: string
  readonly expiresAt: EpochMs
}

/**
 * Creates and checks sessions without stored state: each token is signed with a secret derived from
 * an operator key, so every operator process can check the token.
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

/** Compares two texts in a time that does not depend on where they differ. */
export function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Derives the secret that signs sessions. The operator key cannot be computed from this secret (RFC
 * 5869).
 */
const signingSecretOf = (key: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'hookline session', 32))

const macOf = (secret: Buffer, text: string): string => createHmac('sha256', secret).update(text).digest('base64url')
