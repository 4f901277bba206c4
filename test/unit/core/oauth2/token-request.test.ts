import { describe, expect, it } from '@jest/globals'
import { tokenRequest } from '../../../../src/core/oauth2/token-request.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { oauth2Of } from '../../../support/builders.ts'

const sent = (given: Parameters<typeof oauth2Of>[0] = {}) => {
  const { url, headers, body } = tokenRequest(oauth2Of(given), 'Acme')
  return { url, headers, form: body.toString() }
}
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

describe('a token request', () => {
  it('asks for a token with the client credentials grant', () => {
    expect(sent()).toEqual({
      url: 'https://login.example.com/token',
      headers: {
        'User-Agent': 'Acme/1.0',
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'application/json',
        'Accept-Encoding': 'identity',
        Authorization: basic('hookline:client-secret-of-crm'),
      },
      form: 'grant_type=client_credentials',
    })
  })

  it('has the scopes, separated by spaces', () => {
    expect(sent({ scopes: ['events:write', 'b'] }).form).toBe('grant_type=client_credentials&scope=events%3Awrite+b')
  })

  it.each([
    ['RFC 6749 2.3.1: encodes a colon in the id', 'a:b', 's', 'a%3Ab:s'],
    ['RFC 6749 appendix B: encodes spaces, % and + in the secret', 'id', ' %&+£€', 'id:+%25%26%2B%C2%A3%E2%82%AC'],
  ])('%s', (_, clientId, secret, expected) => {
    const { headers } = sent({ clientId, clientSecret: new Secret(secret) })
    expect(headers['Authorization']).toBe(basic(expected))
  })

  it('has the id and secret in the body with clientAuthentication: post', () => {
    const { headers, form } = sent({ clientAuthentication: 'post', clientSecret: new Secret('a b&c') })
    expect(headers).not.toHaveProperty('Authorization')
    expect(form).toBe('grant_type=client_credentials&client_id=hookline&client_secret=a+b%26c')
  })
})
