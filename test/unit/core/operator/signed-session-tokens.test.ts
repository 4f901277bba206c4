import { describe, expect, it } from '@jest/globals'
import { createOperatorSessions, sessionLifetime } from '../../../../src/core/operator/signed-session-tokens.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { epochMs } from '../../../../src/core/time.ts'

const keyOf = (name: string, role: 'read' | 'operate', ...secrets: readonly string[]) => ({
  ...{ name, role },
  secrets: secrets.map(text => new Secret(text)),
})
const ada = keyOf('ada', 'operate', 'old-key')
const bob = keyOf('bob', 'read', 'key-of-bob')
const now = epochMs(Date.UTC(2026, 10, 26))
const later = (ms: number) => epochMs(now + ms)
const sessions = createOperatorSessions([ada, bob])
const begun = sessions.begin('old-key', 'session-1', now)!
const replacedIn = (token: string, at: number) =>
  `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`

describe('a session', () => {
  it('begins with a key only', () => {
    expect(sessions.begin('no-key', 'session-1', now)).toBeUndefined()
    expect(sessions.begin('', 'session-1', now)).toBeUndefined()
    expect(begun.operator).toMatchObject({ name: 'ada', role: 'operate', session: { id: 'session-1' } })
  })

  it('is found by every process with the same keys, in any order', () => {
    const found = createOperatorSessions([bob, ada]).find(begun.token, now)
    expect(found).toEqual({ kind: 'found', operator: begun.operator })
  })

  it('ends after 12 hours', () => {
    expect(sessionLifetime).toBe(12 * 3_600_000)
    expect(sessions.find(begun.token, later(sessionLifetime - 1)).kind).toBe('found')
    expect(sessions.find(begun.token, later(sessionLifetime))).toEqual({ kind: 'expired' })
  })

  it('has the role that its key has now', () => {
    const changed = createOperatorSessions([keyOf('ada', 'read', 'old-key')])
    expect(changed.find(begun.token, now)).toMatchObject({ operator: { name: 'ada', role: 'read' } })
  })

  it.each([
    ['removed', [bob]],
    ['rotated', [keyOf('ada', 'operate', 'new-key'), bob]],
    ['given another name', [keyOf('eve', 'operate', 'old-key')]],
  ])('ends when its key is %s', (_, keys) => {
    expect(createOperatorSessions(keys).find(begun.token, now)).toEqual({ kind: 'unknown' })
  })

  it('survives a rotation while both keys are valid', () => {
    const during = createOperatorSessions([keyOf('ada', 'operate', 'new-key', 'old-key')])
    expect(during.find(begun.token, now).kind).toBe('found')
  })

  it('does not contain its key, and the CSRF token is not its signature', () => {
    const [payload = '', mac] = begun.token.split('.')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({
      ...{ name: 'ada', id: 'session-1', expiresAt: now + sessionLifetime },
    })
    expect(begun.operator.session.csrfToken).not.toBe(mac)
  })

  it('has a CSRF token of its own', () => {
    const other = sessions.begin('old-key', 'session-2', now)!
    expect(other.operator.session.csrfToken).not.toBe(begun.operator.session.csrfToken)
  })
})

describe('a forged token', () => {
  it('is unknown with each altered character', () => {
    for (let at = 0; at < begun.token.length; at++)
      expect([at, sessions.find(replacedIn(begun.token, at), now).kind]).toEqual([at, 'unknown'])
  })

  const [payload = '', mac = ''] = begun.token.split('.')
  const bobs = sessions.begin('key-of-bob', 'session-1', now)!.token.split('.')
  const encoded = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url')
  it.each([
    ['nothing', ''],
    ['no signature', payload],
    ['an empty signature', `${payload}.`],
    ['a part more', `${begun.token}.x`],
    ['the signature of another session', `${payload}.${bobs[1]}`],
    ['the signature twice', `${payload}.${mac}${mac}`],
    ['the CSRF token as the signature', `${payload}.${begun.operator.session.csrfToken}`],
    ['a later end', `${encoded({ name: 'ada', id: 'session-1', expiresAt: 1e15 })}.${mac}`],
    ['padding', `${payload}.${mac}=`],
    ['too many characters', `${'A'.repeat(2_000)}.${mac}`],
    ['no text', '\u0000.\u0000'],
  ])('is unknown with %s', (_, token) => {
    expect(sessions.find(token, now)).toEqual({ kind: 'unknown' })
  })
})
