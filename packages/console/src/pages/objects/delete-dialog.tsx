import type { ComponentChildren } from 'preact'
import { useLocation } from 'wouter-preact'
import { objectPath } from '../../api/object-path.ts'
import type { ConfigObject } from '../../api/response-types.ts'
import { useChange } from '../../api/use-change.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'

export interface DeleteDialogProps {
  readonly object: ConfigObject
  /** What the deletion causes. */
  readonly children: ComponentChildren
  readonly onClose: () => void
}

/** The user types the id of the destination or source to confirm its deletion. */
export function DeleteDialog({ object, children, onClose }: DeleteDialogProps) {
  const [, navigate] = useLocation()
  const { send, isRunning, error } = useChange()
  const remove = async (): Promise<void> => {
    const result = await send('DELETE', objectPath(object), { expects: object.version })
    if (result !== undefined) navigate(`/${object.kind}s`)
  }
  return (
    <ConfirmDialog
      title={`Delete ${object.id}`}
      action="Delete"
      isDangerous
      typed={object.id}
      isRunning={isRunning}
      error={error}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>{children}</p>
    </ConfirmDialog>
  )
}
