import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

export interface SecretDialogProps {
  readonly title: string
  readonly secret: string
  readonly children?: ComponentChildren
  readonly onClose: () => void
}

/** Shows a new secret once. */
export function SecretDialog({ title, secret, children, onClose }: SecretDialogProps) {
  const [isCopied, setCopied] = useState(false)
  const copy = (): void => {
    void navigator.clipboard?.writeText(secret).then(() => setCopied(true))
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-text">
        <p>Copy this value now: Hookline does not show it again.</p>
        {children}
      </div>
      <output class="secret">{secret}</output>
      <div class="actions actions-end">
        <Button onClick={copy}>{isCopied ? 'Copied' : 'Copy'}</Button>
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
