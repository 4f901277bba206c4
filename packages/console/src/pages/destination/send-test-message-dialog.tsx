import { useEffect, useState } from 'preact/hooks'
import { destinationPath } from '../../api/object-path.ts'
import type { TestResult } from '../../api/test-and-preview-types.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorMessage } from '../../components/error-message.tsx'
import { Loading } from '../../components/loading.tsx'
import { TestAnswers } from './test-message-responses.tsx'

/** Sends a test message, and shows the response of each webhook. */
export function TestDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { send, isRunning, error } = useChange()
  const [result, setResult] = useState<TestResult>()
  const run = async (): Promise<void> => {
    setResult(undefined)
    setResult(await send<TestResult>('POST', `${destinationPath(id)}/test`))
  }
  useEffect(() => void run(), [])
  return (
    <Dialog title={`Test message to ${id}`} onClose={onClose}>
      <div aria-live="polite">
        {isRunning && <Loading what="the response of the endpoint" />}
        {error !== undefined && <ErrorMessage error={error} />}
        {result !== undefined && <TestAnswers result={result} />}
      </div>
      <div class="actions actions-end">
        <Button onClick={() => void run()} isDisabled={isRunning}>
          Send again
        </Button>
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
