import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { ConfigObject } from '../../api/response-types.ts'
import { Button } from '../../components/button.tsx'
import { useCanOperate } from '../../session/session-context.ts'
import { DeleteDialog } from '../objects/delete-dialog.tsx'
import { PreviewDialog } from './preview-dialog.tsx'
import { RotateSecretDialog } from './rotate-secret-dialog.tsx'
import { TestDialog } from './send-test-message-dialog.tsx'
import { StateDialog, type StateSwitch } from './switch-state-dialog.tsx'

export interface DestinationActionsProps {
  readonly object: ConfigObject
  readonly onChanged: () => void
}

type OpenDialog = StateSwitch | 'test' | 'preview' | 'rotate' | 'delete'

/**
 * The buttons of a destination. If the configuration file defines the destination, the buttons that
 * change it are absent, except Enable after an automatic disabling.
 */
export function DestinationActions({ object, onChanged }: DestinationActionsProps) {
  const canOperate = useCanOperate()
  const [open, setOpen] = useState<OpenDialog>()
  if (!canOperate) return null
  const { id, state, origin, disabledAutomatically } = object
  const close = (): void => setOpen(undefined)
  const isDisabledByHookline = disabledAutomatically !== undefined
  const isDisabled = object.document['enabled'] === false || isDisabledByHookline
  const canEnable = isDisabledByHookline || (isDisabled && origin === 'api')
  return (
    <>
      <Button onClick={() => setOpen('test')}>Send test message</Button>
      {state !== 'excluded' && <Button onClick={() => setOpen('preview')}>Preview</Button>}
      {state !== 'excluded' && (
        <Link class="button" href={`/resend?destination=${encodeURIComponent(id)}`}>
          Resend…
        </Link>
      )}
      {canEnable && <Button onClick={() => setOpen('enable')}>Enable</Button>}
      {origin === 'api' && (
        <>
          {state === 'paused' && <Button onClick={() => setOpen('resume')}>Resume</Button>}
          {state === 'enabled' && <Button onClick={() => setOpen('pause')}>Pause</Button>}
          {!isDisabled && <Button onClick={() => setOpen('disable')}>Disable</Button>}
          <Button onClick={() => setOpen('rotate')}>Rotate secret</Button>
          <Button kind="danger" onClick={() => setOpen('delete')}>
            Delete
          </Button>
        </>
      )}
      {open === 'test' && <TestDialog id={id} onClose={close} />}
      {open === 'preview' && <PreviewDialog object={object} onClose={close} />}
      {open === 'rotate' && <RotateSecretDialog object={object} onChanged={onChanged} onClose={close} />}
      {open === 'delete' && (
        <DeleteDialog object={object} onClose={close}>
          Hookline deletes the destination with its secrets, and dead-letters its waiting deliveries. You cannot undo
          the deletion.
        </DeleteDialog>
      )}
      {(open === 'pause' || open === 'resume' || open === 'enable' || open === 'disable') && (
        <StateDialog id={id} to={open} onChanged={onChanged} onClose={close} />
      )}
    </>
  )
}
