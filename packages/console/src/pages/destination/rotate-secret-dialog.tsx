import { useState } from 'preact/hooks'
import { destinationPath } from '../../api/object-path.ts'
import type { ConfigObject, RotatedSecret } from '../../api/response-types.ts'
import { useChange } from '../../api/use-change.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { SecretDialog } from '../../components/new-secret-dialog.tsx'
import { TextField } from '../../components/text-field.tsx'
import { Time } from '../../components/time.tsx'

export interface RotateSecretDialogProps {
  readonly object: ConfigObject
  readonly onChanged: () => void
  readonly onClose: () => void
}

/** Gives a destination a new shared secret, and shows it once. */
export function RotateSecretDialog({ object, onChanged, onClose }: RotateSecretDialogProps) {
  const { send, isRunning, error } = useChange()
  const [overlap, setOverlap] = useState('24h')
  const [rotated, setRotated] = useState<RotatedSecret>()
  const rotate = async (): Promise<void> => {
    const path = `${destinationPath(object.id)}/rotate-secret`
    const result = await send<RotatedSecret>('POST', path, { body: { overlap }, expects: object.version })
    if (result === undefined) return
    setRotated(result)
    onChanged()
  }
  if (rotated !== undefined)
    return (
      <SecretDialog title={`New secret of ${object.id}`} secret={rotated.secret} onClose={onClose}>
        {rotated.rotatesAt !== undefined && (
          <p>
            This secret replaces the old secret at <Time at={rotated.rotatesAt} />. The receiver must accept the new
            secret before that time.
          </p>
        )}
      </SecretDialog>
    )
  return (
    <ConfirmDialog
      title={`Rotate the secret of ${object.id}`}
      action="Rotate secret"
      isRunning={isRunning}
      error={error}
      onConfirm={() => void rotate()}
      onClose={onClose}
    >
      <p>Hookline makes a new shared secret and shows it once.</p>
      <TextField
        label="Overlap"
        value={overlap}
        onInput={setOverlap}
        hint="Time after which Hookline signs X-Signature with the new secret instead of the old one, for example 24h. With 0s, the new secret replaces the old one immediately."
      />
    </ConfirmDialog>
  )
}
