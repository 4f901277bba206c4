import { describe, expect, it } from '@jest/globals'
import { maskSecrets, secretTextsOf } from '../../../../src/core/operator/mask-destination-secrets-in-text.ts'
import { testMessageOf, testResponseOf } from '../../../../src/core/operator/test-message.ts'
import { Secret } from '../../../../src/core/secret.ts'
import {
  defaultDelivery,
  defaultPayload,
  destinationOf,
  oauth2Of,
  start,
  webhookOf,
} from '../../../support/builders.ts'

const secret = 'a/secret "text"'

describe('maskSecrets', () => {
  it.each<[name: string, text: string, masked: string]>([
    ['as it is', `got ${secret}, and again ${secret}.`, 'got ***, and again ***.'],
    ['in JSON', JSON.stringify({ got: secret }), '{"got":"***"}'],
    ['in JSON of PHP', '{"got":"a\\/secret \\"text\\""}', '{"got":"***"}'],
    ['but no other text', 'a/secret', 'a/secret'],
  ])('masks a secret %s', (_, text, masked) => expect(maskSecrets(text, [secret], false)).toBe(masked))

  it('masks the longest secret first', () => {
    expect(maskSecrets('Bearer 12345678', ['12345678', 'Bearer 12345678'], false)).toBe('***')
  })

  it.each([
    ['1234567', '1234567'],
    ['12345678', '***'],
  ])('masks only secrets of at least 8 characters: %s', (text, masked) =>
    expect(maskSecrets(text, [text], false)).toBe(masked),
  )

  it.each<[text: string, masked: string]>([
    ['got a/secret', 'got ***'],
    ['{"got":"a/secret \\"te', '{"got":"***'],
    ['got a/secre', 'got a/secre'],
    ['a/secret "tex', '***'],
    ['a/secret is not at the end', 'a/secret is not at the end'],
  ])('masks the beginning of a secret at the end of a text that is cut: %s', (text, masked) =>
    expect(maskSecrets(text, [secret], true)).toBe(masked),
  )
})

describe('the secrets of a destination', () => {
  const destination = destinationOf({
    secrets: [new Secret('shared secret 1'), new Secret('shared secret 2')],
    signingKeys: [new Secret('signing key')],
    auth: { oauth2: oauth2Of() },
    tlsIdentity: { id: 'i', cert: 'certificate', key: new Secret('key of the certificate'), ca: undefined },
    webhooks: [
      {
        ...webhookOf(0, { Authorization: 'Basic credentials' }),
        url: 'https://a.example/hooks/t0ken%20a/%ff-token?t0ken%20c&key=t0ken%20b',
      },
      webhookOf(1, { 'X-Key': new Secret('header of a file') }),
    ],
  })

  it('include the parts that an endpoint may repeat', () => {
    expect(secretTextsOf(destination)).toEqual(
      expect.arrayContaining([
        ...['shared secret 1', 'shared secret 2', 'signing key', 'client-secret-of-crm', 'key of the certificate'],
        ...['/hooks/t0ken%20a/%ff-token?t0ken%20c&key=t0ken%20b', 't0ken%20a', 't0ken a', '%ff-token'],
        ...['t0ken%20b', 't0ken b', 't0ken%20c'],
        ...['Basic credentials', 'credentials', 'header of a file'],
      ]),
    )
  })

  it('are masked in the response to a test message, with the access token', () => {
    const repeated = [...secretTextsOf(destination), 'the-access-token'].filter(({ length }) => length >= 8)
    const { requests } = testMessageOf(destination, {
      ...{ id: '1', at: start, payload: defaultPayload, delivery: defaultDelivery },
    })
    const respond = (contentEncoding: string | undefined, isTruncated: boolean) =>
      testResponseOf(
        requests[0]!,
        {
          kind: 'answered',
          status: 200,
          retryAfter: undefined,
          accessToken: new Secret('the-access-token'),
          body: { bytes: Buffer.from(repeated.join('\n')), isTruncated, contentEncoding },
        },
        1,
      )
    const masked = repeated.map(() => '***').join('\n')
    expect(respond(undefined, false).responseBody).toEqual({ text: masked, truncated: false })
    expect(respond('identity', true).responseBody).toEqual({ text: masked, truncated: true })
    expect(respond('signing key', false).responseBody).toEqual({ contentEncoding: '***', truncated: false })
  })
})
