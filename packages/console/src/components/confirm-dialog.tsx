import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiError } from '../api/api-error.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorMessage } from './error-message.tsx'
import { TextField } from './text-field.tsx'

export interface ConfirmDialogProps {
  readonly title: string
  /** The text that says what the action does. */
  readonly children: ComponentChildren
  readonly action: string
  readonly isDangerous?: boolean
  /** A text that the user must type before the button of the action is enabled. */
  readonly typed?: string
  readonly isRunning: boolean
  readonly error: ApiError | undefined
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/**
 * A dialog that stays open while its action runs, because the answer can have the only copy of a
 * new secret.
 */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, action, isDangerous = false, typed, isRunning, error, onConfirm, onClose } = props
  const [text, setText] = useState('')
  const isReady = !isRunning && (typed === undefined || text === typed)
  const submit = (event: Event): void => {
    event.preventDefault()
    if (isReady) onConfirm()
  }
  const close = (): void => {
    if (!isRunning) onClose()
  }
  return (
    <Dialog title={title} onClose={close}>
      <form onSubmit={submit}>
        <div class="dialog-text">{children}</div>
        {typed !== undefined && <TextField label={`Type "${typed}" to confirm`} value={text} onInput={setText} />}
        {error !== undefined && <ErrorMessage error={error} />}
        <div class="actions actions-end">
          <Button onClick={close} isDisabled={isRunning}>
            Cancel
          </Button>
          <Button type="submit" kind={isDangerous ? 'danger' : 'primary'} isDisabled={!isReady}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
