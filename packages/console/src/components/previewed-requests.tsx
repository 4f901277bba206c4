import type { RequestPreview } from '../api/test-and-preview-types.ts'
import { TextBlock } from './text-block.tsx'

/** The requests that Hookline would send now, or the reason why it would send none. */
export function PreviewedRequests({ preview }: { readonly preview: RequestPreview }) {
  if ('reason' in preview)
    return (
      <p>
        <code>{preview.reason}</code>: {preview.message}
      </p>
    )
  return (
    <>
      {preview.paused === true && (
        <p>
          The destination is paused: Hookline sends its requests only after you resume it, and dead-letters each
          delivery whose retry window ends first.
        </p>
      )}
      {preview.requests.map(({ webhook, url, headers }) => (
        <div key={webhook}>
          <h3>Request to webhook {webhook}</h3>
          <TextBlock
            label={`Request to webhook ${webhook}`}
            text={[`POST ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n')}
          />
        </div>
      ))}
      <h3>Body of each request</h3>
      <TextBlock label="Body of each request" text={preview.body} />
    </>
  )
}
