import { useLocation } from 'wouter-preact'
import type { ConfigObject } from '../../api/types.ts'
import { useChange } from '../../api/use-change.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { destinationPath } from './destination-path.ts'

export interface DeleteDialogProps {
  readonly object: ConfigObject
  readonly onClose: () => void
}

/** Asks for the id of a destination before it is deleted. */
export function DeleteDialog({ object, onClose }: DeleteDialogProps) {
  const [, navigate] = useLocation()
  const { send, isRunning, error } = useChange()
  const remove = async (): Promise<void> => {
    const result = await send('DELETE', destinationPath(object.id), { expects: object.version })
    if (result !== undefined) navigate('/destinations')
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
      <p>
        Hookline deletes the destination with its secrets. Its waiting deliveries are dead-lettered. This cannot be
        undone.
      </p>
    </ConfirmDialog>
  )
}
