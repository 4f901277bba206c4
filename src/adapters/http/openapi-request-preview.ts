import { closed, list, reference, type Schema, text } from './openapi-basic-schemas.ts'

/** The schema of the requests that Hookline would send, without their secrets. */
export const requestPreview: Schema = closed({
  requests: list(
    closed({
      webhook: {
        ...text,
        description: 'The id of the webhook or, for a webhook without an id, its position in `webhooks` (from 0).',
      },
      url: { ...text, description: 'The URL of the webhook. Its path is `***`.' },
      headers: {
        type: 'object',
        additionalProperties: text,
        description: 'The values of configured headers, the access token and the signatures are `***`.',
      },
    }),
  ),
  body: { ...text, description: 'The body of each request.' },
})

/** The schema of a preview, or of the reason why Hookline would send no request. */
export const previewOr = (reasons: readonly string[]): Schema => ({
  anyOf: [
    reference('RequestPreview'),
    closed({
      reason: { enum: reasons },
      message: { ...text, description: 'For people: why there are no requests, and what to do.' },
    }),
  ],
})
