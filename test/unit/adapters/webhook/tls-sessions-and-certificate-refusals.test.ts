import { EventEmitter } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it } from '@jest/globals'
import { TlsEndpoints } from '../../../../src/adapters/webhook/tls-sessions-and-certificate-refusals.ts'

const session = Buffer.from('session')

class Handshake extends EventEmitter {
  authorized = false
  authorizationError: string | null = null
  destroyedWith: Error | undefined
  readonly #isReused: boolean

  constructor(isReused = false) {
    super()
    this.#isReused = isReused
  }

  isSessionReused = (): boolean => this.#isReused
  destroy = (error: Error): void => {
    this.destroyedWith = error
  }

  trust(): void {
    this.authorized = true
    this.emit('secureConnect')
    this.emit('session', session)
  }

  refuse(): void {
    this.authorizationError = 'CERT_HAS_EXPIRED'
    this.emit('error', Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }))
  }

  breakOff(): void {
    this.emit('error', Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
  }
}

function knownEndpoints() {
  let now = 0
  const endpoints = new TlsEndpoints(() => now)
  const connect = (isReused?: boolean): Handshake => {
    const handshake = new Handshake(isReused)
    endpoints.follow(handshake as unknown as TLSSocket, 'crm.example', 443)
    return handshake
  }
  return {
    ...{ endpoints, connect },
    resume: () => endpoints.resume('crm.example', 443).session,
    refuse: (port = 443) => endpoints.refuse('crm.example', port)?.code,
    pass(ms: number): void {
      now += ms
    },
  }
}

describe('a TLS session', () => {
  it('is resumed after a trusted handshake', () => {
    const { connect, resume } = knownEndpoints()
    expect(resume()).toBeUndefined()
    connect().trust()
    expect(resume()).toBe(session)
  })

  it('is not resumed when an hour has passed since the check of the certificate', () => {
    const { connect, resume, pass } = knownEndpoints()
    connect().trust()
    pass(1_800_000)
    // This resumption does not check the certificate, so the session still ends an hour after the
    // first handshake.
    connect(true).trust()
    pass(1_800_000)
    expect(resume()).toBe(session)
    pass(1)
    expect(resume()).toBeUndefined()
    connect().trust()
    expect(resume()).toBe(session)
  })

  it('is not resumed after a failed handshake', () => {
    const { connect, resume } = knownEndpoints()
    connect().trust()
    connect(true).breakOff()
    expect(resume()).toBeUndefined()
  })
})

it('a connection is destroyed after 32 session tickets', () => {
  const handshake = knownEndpoints().connect()
  for (let ticket = 0; ticket < 32; ticket += 1) handshake.emit('session', session)
  expect(handshake.destroyedWith).toBeUndefined()
  handshake.emit('session', session)
  expect(handshake.destroyedWith).toMatchObject({ code: 'ERR_TLS_TOO_MANY_TICKETS' })
})

it('a connection is destroyed after 64 changes of its TLS keys, apart from those of the handshake', () => {
  const handshake = knownEndpoints().connect()
  const line = Buffer.from('SERVER_TRAFFIC_SECRET_N 00 00')
  for (let secret = 0; secret < 5; secret += 1) handshake.emit('keylog', line)
  handshake.trust()
  for (let change = 0; change < 64; change += 1) handshake.emit('keylog', line)
  expect(handshake.destroyedWith).toBeUndefined()
  handshake.emit('keylog', line)
  expect(handshake.destroyedWith).toMatchObject({ code: 'ERR_TLS_TOO_MANY_KEY_UPDATES' })
})

describe('connections to an endpoint with a refused certificate', () => {
  it('pause after eight refusals, with one new try every five seconds', () => {
    const { connect, refuse, pass } = knownEndpoints()
    for (let refusal = 0; refusal < 7; refusal += 1) connect().refuse()
    expect(refuse()).toBeUndefined()
    connect().refuse()
    expect(refuse()).toBe('CERT_HAS_EXPIRED')
    expect(refuse(8443)).toBeUndefined()
    pass(5_000)
    expect(refuse()).toBeUndefined()
    expect(refuse()).toBe('CERT_HAS_EXPIRED')
  })

  it('continue after a trusted certificate', () => {
    const { connect, refuse, pass } = knownEndpoints()
    for (let refusal = 0; refusal < 8; refusal += 1) connect().refuse()
    pass(5_000)
    connect().trust()
    expect(refuse()).toBeUndefined()
  })

  it('do not pause when trusted certificates come between the refusals', () => {
    const { connect, refuse } = knownEndpoints()
    for (let refusal = 0; refusal < 20; refusal += 1) {
      connect().refuse()
      if (refusal % 5 === 0) connect().trust()
    }
    expect(refuse()).toBeUndefined()
  })

  it('do not pause after other failures', () => {
    const { connect, refuse } = knownEndpoints()
    for (let failure = 0; failure < 20; failure += 1) connect().breakOff()
    expect(refuse()).toBeUndefined()
  })
})
