import { describe, expect, it } from '@jest/globals'
import { signerOf } from '../../../../src/core/delivery/build-and-sign-requests.ts'
import { bodyOf } from '../../../../src/core/delivery/payload.ts'
import { messageTypes } from '../../../../src/core/message/message.ts'
import { goldenPayloads, goldenSecret, goldenSignatures } from '../../../support/dispatcher/golden-payloads.ts'

describe('golden payloads', () => {
  it.each(goldenPayloads)('$name', ({ name, message, body: golden }) => {
    const body = bodyOf(message, { anonymousId: name.startsWith('anonymous-id-always/') ? 'always' : 'fallback' })
    expect(body).toBe(golden)
    expect(signerOf(goldenSecret)(Buffer.from(body))).toBe(goldenSignatures.get(name))
  })

  it('cover every type, and every body has a signature', () => {
    expect(new Set(goldenPayloads.map(({ message }) => message.type))).toEqual(new Set(messageTypes))
    expect([...goldenSignatures.keys()].sort()).toEqual(goldenPayloads.map(({ name }) => name))
  })
})
