import { useState } from 'preact/hooks'
import { destinationPath } from '../../api/object-path.ts'
import type { ConfigObject } from '../../api/response-types.ts'
import type { RequestPreview } from '../../api/test-and-preview-types.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorMessage } from '../../components/error-message.tsx'
import { PreviewedRequests } from '../../components/previewed-requests.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextAreaField } from '../../components/text-area-field.tsx'

const example = JSON.stringify({ type: 'track', userId: 'u-1', event: 'Order Completed', properties: {} }, undefined, 2)

/** Shows the requests that a destination would get for a message, without sending them. */
export function PreviewDialog({ object, onClose }: { readonly object: ConfigObject; readonly onClose: () => void }) {
  const { id, document } = object
  const { send, isRunning, error, reset } = useChange()
  const sources = Array.isArray(document['sources']) ? document['sources'].map(String) : []
  const [source, setSource] = useState(sources[0])
  const [text, setText] = useState(example)
  const [isJson, setJson] = useState(true)
  const [preview, setPreview] = useState<RequestPreview>()
  const run = async (): Promise<void> => {
    setPreview(undefined)
    reset()
    const message = parsed(text)
    setJson(message !== undefined)
    if (message === undefined) return
    setPreview(await send<RequestPreview>('POST', `${destinationPath(id)}/preview`, { body: { source, message } }))
  }
  return (
    <Dialog title={`Preview of requests to ${id}`} onClose={onClose}>
      {sources.length > 1 && (
        <SelectField
          label="Source"
          value={source ?? ''}
          onInput={setSource}
          options={sources.map(each => [each, each] as const)}
        />
      )}
      <TextAreaField
        label="Message"
        value={text}
        onInput={setText}
        rows={8}
        hint="One message in JSON, as an SDK sends it. Write ids of more than 15 digits as strings. Hookline sends no request."
        problems={isJson ? [] : [{ path: 'message', message: 'is not JSON' }]}
      />
      <div aria-live="polite">
        {error !== undefined && <ErrorMessage error={error} />}
        {preview !== undefined && <PreviewedRequests preview={preview} />}
      </div>
      <div class="actions actions-end">
        <Button onClick={onClose}>Close</Button>
        <Button kind="primary" onClick={() => void run()} isDisabled={isRunning}>
          Show requests
        </Button>
      </div>
    </Dialog>
  )
}

/** Returns `undefined` if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
