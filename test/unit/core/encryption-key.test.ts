import { describe, expect, it } from '@jest/globals'
import { encryptionKeysOf, parseEncryptionKey } from '../../../src/core/encryption-key.ts'
import { Secret } from '../../../src/core/secret.ts'

const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index * 3))

describe('an encryption key', () => {
  it.each([
    ['base64', `${bytes.toString('base64')}\n`],
    ['base64url', bytes.toString('base64url')],
    ['hex', bytes.toString('hex').toUpperCase()],
  ])('may be %s', (_, text) => {
    const parsed = parseEncryptionKey(text)
    if (parsed.kind !== 'key') throw new Error(parsed.message)
    expect(parsed.key.object.export()).toEqual(bytes)
    expect(parsed.key.id).toMatch(/^[0-9a-f]{8}$/)
    expect(bytes.toString('hex')).not.toContain(parsed.key.id)
  })

  it.each([
    ['', 'is empty'],
    ['not a key!', 'is neither base64 nor hex'],
    [bytes.subarray(1).toString('base64'), 'contains a key of 31 bytes, not 32'],
    ['00'.repeat(32), 'contains the same byte 32 times'],
  ])('is refused: %j', (text, message) => {
    expect(parseEncryptionKey(text)).toMatchObject({
      kind: 'refused',
      message,
      hint: expect.stringContaining('openssl rand -base64 32'),
    })
  })

  it('is left out when this process has not read its file', () => {
    const keys = encryptionKeysOf([new Secret(''), new Secret(bytes.toString('hex'))])
    expect(keys.map(key => key.object.export())).toEqual([bytes])
  })
})
