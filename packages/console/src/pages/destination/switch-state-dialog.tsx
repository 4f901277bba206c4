import { destinationPath } from '../../api/object-path.ts'
import { useChange } from '../../api/use-change.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'

export type StateSwitch = 'pause' | 'resume' | 'enable' | 'disable'

const texts: Readonly<Record<StateSwitch, { title: string; effect: string; action: string }>> = {
  pause: {
    title: 'Pause',
    effect:
      'Hookline sends no requests to this destination until you resume it. Its deliveries wait. Hookline dead-letters a delivery if its retry window ends during the pause. The window is 4 hours by default, and longer with lifecycle.pauseKeepsWindow.',
    action: 'Pause',
  },
  resume: {
    title: 'Resume',
    effect: 'Hookline sends requests to this destination again, also for the deliveries that waited.',
    action: 'Resume',
  },
  enable: {
    title: 'Enable',
    effect:
      'The destination gets the new events of its sources again. It does not get the events that Hookline dropped while the destination was disabled.',
    action: 'Enable',
  },
  disable: {
    title: 'Disable',
    effect:
      'Until you enable this destination, Hookline drops its new events, and also its waiting deliveries when they are due. Hookline does not deliver dropped events later.',
    action: 'Disable',
  },
}

export interface StateDialogProps {
  readonly id: string
  readonly to: StateSwitch
  readonly onChanged: () => void
  readonly onClose: () => void
}

/** A dialog to confirm that a destination is paused, resumed, enabled or disabled. */
export function StateDialog({ id, to, onChanged, onClose }: StateDialogProps) {
  const { send, isRunning, error } = useChange()
  const { title, effect, action } = texts[to]
  const confirm = async (): Promise<void> => {
    if ((await send('POST', `${destinationPath(id)}/${to}`)) === undefined) return
    onChanged()
    onClose()
  }
  return (
    <ConfirmDialog
      title={`${title} ${id}`}
      action={action}
      isDangerous={to === 'disable'}
      isRunning={isRunning}
      error={error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{effect}</p>
    </ConfirmDialog>
  )
}
