import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

export interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Whether the page behind the dialog is invisible instead of dimmed. */
  readonly isOpaque?: boolean
}

/** A modal dialog. Escape calls `onClose`, which may ignore it: the dialog then stays open. */
export function Dialog({ title, onClose, children, isOpaque = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    element?.showModal()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={isOpaque ? 'dialog-opaque' : undefined}
      aria-labelledby={id}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
      // A page cannot prevent a second Escape from closing the dialog, so show the dialog again.
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected) currentTarget.showModal()
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
