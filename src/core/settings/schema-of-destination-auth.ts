import { z } from 'zod'
import { fileName, httpUrl, oneOf, secretText, text } from './value-types.ts'

/** The characters of a scope (RFC 6749 appendix A.4). */
const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be one scope: visible ASCII characters except space, " and \\')

/** The key `auth` of a destination: how its requests authenticate at the endpoint. */
export const auth = z
  .strictObject({
    oauth2: z
      .strictObject({
        tokenUrl: httpUrl.describe(
          'URL of the token endpoint. The settings of `network` also apply to this URL. The URL must not contain a secret, because the operator API shows the whole URL.',
        ),
        clientId: text.describe('Client id that a token request sends to the authorization server.'),
        clientSecret: secretText
          .optional()
          .describe(
            'Client secret that a token request sends to the authorization server. Alternatively, set `clientSecretFile`.',
          ),
        clientSecretFile: fileName.optional().describe('File that contains the client secret.'),
        clientAuthentication: oneOf(['basic', 'post'])
          .default('basic')
          .describe(
            'Where a token request sends the client id and secret. `basic`: in the Authorization header. `post`: in the body, for authorization servers that do not support `basic`.',
          ),
        scopes: z
          .array(scope)
          .default([])
          .describe('Scopes that a token request asks for. Empty: the authorization server uses its default.'),
      })
      .optional()
      .describe(
        'OAuth 2.0 client credentials: Hookline requests an access token and sends it with every request, as `Authorization: Bearer`.',
      ),
  })
  .optional()
  .describe('How Hookline authenticates at the endpoints of this destination. Absent: requests have no access token.')
