import { describe, expect, it } from '@jest/globals'
import { fingerprintOf, maskDocument } from '../../../../src/core/config-objects/mask.ts'
import { destinationDocument } from '../../../support/config-objects/example-objects.ts'

describe('maskDocument', () => {
  it('masks every secret, and shows a fingerprint of the long ones', () => {
    const document = destinationDocument({
      sharedSecret: ['shared-secret-of-the-crm', 'short'],
      webhooks: [
        { url: 'https://hooks.example.com/t0ken?key=1', headers: { Authorization: 'Bearer of-the-crm-1' } },
        { url: 'https://plain.example.com/' },
      ],
    })
    expect(maskDocument('destination', document)).toEqual({
      document: {
        sources: ['web'],
        sharedSecret: ['***', '***'],
        webhooks: [
          { url: 'https://hooks.example.com/***', headers: { Authorization: '***' } },
          { url: 'https://plain.example.com/' },
        ],
      },
      fingerprints: {
        'sharedSecret[0]': fingerprintOf('shared-secret-of-the-crm'),
        'webhooks[0].url': fingerprintOf('https://hooks.example.com/t0ken?key=1'),
        'webhooks[0].headers.Authorization': fingerprintOf('Bearer of-the-crm-1'),
      },
    })
  })

  it('shows the token URL, which does not count as a secret', () => {
    const tokenUrl = 'https://login.example.com/token?tenant=crm'
    const { document } = maskDocument('destination', { auth: { oauth2: { tokenUrl, clientSecret: 'confidential' } } })
    expect(document).toEqual({ auth: { oauth2: { tokenUrl, clientSecret: '***' } } })
  })

  it('shows the names of files, and masks values of a wrong type', () => {
    const headers = { A: { file: 'secrets/a' }, B: 7 }
    const { document } = maskDocument('destination', { webhooks: [{ urlFile: 'secrets/url', headers }] })
    expect(document).toEqual({
      webhooks: [{ urlFile: 'secrets/url', headers: { A: { file: 'secrets/a' }, B: '***' } }],
    })
  })

  it('gives the fingerprint that sha256sum prints', () => {
    // The fingerprint is the beginning of: printf %s write-key-of-the-app | sha256sum
    expect(fingerprintOf('write-key-of-the-app')).toBe('c2e6ca10')
    expect(fingerprintOf('15 characters..')).toBeUndefined()
  })
})
