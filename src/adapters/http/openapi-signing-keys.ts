import { json, ofEveryRequest } from './openapi-responses-and-references.ts'

/** The response to `GET /.well-known/hookline-keys.json` of the operator API. */
const signingKeys = {
  type: 'object',
  required: ['keys'],
  properties: {
    keys: {
      type: 'array',
      items: {
        type: 'object',
        required: ['kty', 'crv', 'x', 'use', 'alg', 'kid', 'standardWebhooks'],
        properties: {
          kty: { const: 'OKP' },
          crv: { const: 'Ed25519' },
          x: { type: 'string', description: 'The 32 bytes of the public key in Base64url.' },
          use: { const: 'sig' },
          alg: { const: 'EdDSA' },
          kid: { type: 'string', description: 'The SHA-256 thumbprint of the key (RFC 7638).' },
          standardWebhooks: {
            type: 'string',
            description: 'The public key in the format of Standard Webhooks: `whpk_`, followed by the key in Base64.',
          },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const

export const publicKeys = {
  get: {
    operationId: 'signingKeys',
    summary: 'List the public keys that verify the Ed25519 signatures of requests to webhooks',
    description:
      'A JSON Web Key Set (RFC 7517). Everyone can read it without an operator key. A receiver should trust only the keys of its own destination: request them with the parameter `destination`, because the keys do not name their destinations.',
    tags: ['settings'],
    security: [],
    parameters: [
      {
        name: 'destination',
        in: 'query',
        description: 'Shows only the keys of the destination with this id.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      ...ofEveryRequest,
      200: {
        description:
          'The public keys. The set is empty if no destination has a signing key, or if the selected destination has none.',
        content: json(signingKeys),
      },
    },
  },
}
