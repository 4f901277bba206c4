import { useState } from 'preact/hooks'
import type { ConfigObject, RotatedKey } from '../../api/response-types.ts'
import { useChange } from '../../api/use-change.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { SecretDialog } from '../../components/new-secret-dialog.tsx'
import { countWithNoun } from '../../components/number-text.ts'
import { SelectField } from '../../components/select-field.tsx'

export interface RotateKeyDialogProps {
  readonly source: ConfigObject
  readonly onChanged: () => void
  readonly onClose: () => void
}

const keepOptions = [
  ['', 'All earlier keys stay valid'],
  ['1', 'Only the newest earlier key stays valid'],
  ['0', 'No earlier key stays valid'],
] as const

/** Gives a source a new write key, and shows it once. */
export function RotateKeyDialog({ source, onChanged, onClose }: RotateKeyDialogProps) {
  const { send, isRunning, error } = useChange()
  const [keep, setKeep] = useState('')
  const [rotated, setRotated] = useState<RotatedKey>()
  const rotate = async (): Promise<void> => {
    const path = `/v1/sources/${encodeURIComponent(source.id)}/rotate-key`
    const body = keep === '' ? {} : { keep: Number(keep) }
    const result = await send<RotatedKey>('POST', path, { body, expects: source.version })
    if (result === undefined) return
    setRotated(result)
    onChanged()
  }
  if (rotated !== undefined)
    return (
      <SecretDialog title={`New write key of ${source.id}`} secret={rotated.writeKey} onClose={onClose}>
        <p>The source now has {countWithNoun(rotated.keys, 'valid key')}.</p>
      </SecretDialog>
    )
  return (
    <ConfirmDialog
      title={`Rotate the write key of ${source.id}`}
      action="Rotate key"
      isRunning={isRunning}
      error={error}
      onConfirm={() => void rotate()}
      onClose={onClose}
    >
      <p>Hookline makes a new write key and shows it once. A source has at most three keys.</p>
      <SelectField label="Earlier keys" value={keep} onInput={setKeep} options={keepOptions} />
    </ConfirmDialog>
  )
}
