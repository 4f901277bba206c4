import { closed, list, reference, type Schema, text } from './openapi-basic-schemas.ts'

/** The requests that Hookline would send, without secrets. */
export const requestPreview: Schema = closed(
  {
    requests: list(
      closed({
        webhook: {
          ...text,
          description: 'The id of the webhook. If the webhook has no id: its position in `webhooks` (from 0).',
        },
        url: { ...text, description: 'The URL of the webhook, with `***` in place of its path, query and fragment.' },
        headers: {
          type: 'object',
          additionalProperties: text,
          description: 'The values of configured headers, the access token and the signatures are masked as `***`.',
        },
      }),
    ),
    body: { ...text, description: 'The body of each request.' },
    paused: {
      const: true,
      description:
        'Present if the destination is paused. Requests then wait until you resume the destination, at most until the retry window ends.',
    },
  },
  ['paused'],
)

/** The body of a request for a preview. */
export const previewedMessage: Schema = closed(
  {
    source: {
      ...text,
      description: 'The id of the source of the message. May be absent if the destination has only one source.',
    },
    message: {
      type: 'object',
      description: 'The message in the form in which an SDK sends it. Write an id of more than 15 digits as text.',
    },
  },
  ['source'],
)

/** A preview, or the reason why Hookline would send no request. */
export const previewOr = (reasons: readonly string[]): Schema => ({
  anyOf: [
    reference('RequestPreview'),
    closed({
      reason: { enum: reasons },
      message: { ...text, description: 'Explanation for people: why there are no requests, and what to do.' },
    }),
  ],
})
