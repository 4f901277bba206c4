import { useEffect, useRef, useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { isActive, type Replay } from '../../api/job-types.ts'
import { withoutEmpty } from '../../api/query-parameters.ts'
import type { DeadLetterFilters } from '../../api/response-types.ts'
import { useChange } from '../../api/use-change.ts'
import { useData } from '../../api/use-data.ts'
import { useIdempotencyKey } from '../../api/use-idempotency-key.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { TextField } from '../../components/text-field.tsx'
import { filterText } from './dead-letter-filters.ts'
import { dryRunText } from './replay-dry-run-text.ts'

export interface ReplayDialogProps {
  readonly filters: DeadLetterFilters
  readonly onStarted: (job: Replay) => void
  readonly onClose: () => void
}

const replayPath = (id: string): string => `/v1/replays/${encodeURIComponent(id)}`

/**
 * Starts a replay after a dry run that shows what the replay would do. Closing the dialog cancels
 * the dry run.
 */
export function ReplayDialog({ filters, onStarted, onClose }: ReplayDialogProps) {
  const trial = useChange()
  const { send, isRunning, error } = useChange()
  const keyOf = useIdempotencyKey()
  const [trialId, setTrialId] = useState<string>()
  const counted = useData<Replay>(trialId === undefined ? undefined : replayPath(trialId), 1000)
  const hasNoResult = counted.data?.state === 'failed' || counted.data?.state === 'cancelled'
  const [rate, setRate] = useState('')
  const hasTrialEnded = useRef(false)
  hasTrialEnded.current = counted.data !== undefined && !isActive(counted.data)
  useEffect(() => {
    const created = trial.send<Replay>('POST', '/v1/replays', { body: { filters, dryRun: true } })
    void created.then(job => setTrialId(job?.id))
    return () => {
      void created.then(job => {
        // Other replays wait for the end of the dry run, so cancel it when the dialog is closed.
        if (job !== undefined && !hasTrialEnded.current) void trial.send('DELETE', replayPath(job.id))
      })
    }
  }, [])
  const start = async (): Promise<void> => {
    const body = { filters, ...withoutEmpty({ rate: rate === '' ? undefined : Number(rate) }) }
    const job = await send<Replay>('POST', '/v1/replays', { body, idempotencyKey: keyOf(body) })
    if (job !== undefined) onStarted(job)
  }
  return (
    <ConfirmDialog
      title="Replay dead letters"
      action="Replay"
      isRunning={isRunning}
      error={error ?? trial.error}
      onConfirm={() => void start()}
      onClose={onClose}
    >
      <p>
        Hookline delivers the messages again, with the same message ids and a new retry window. If a message is a change
        of an audience, Hookline sends the user's current value as a new message.
      </p>
      <p>
        Selection: <span class="id">{filterText(filters)}</span>.
      </p>
      <p role="status">{counted.data === undefined ? trial.isRunning && 'Counting…' : dryRunText(counted.data)}</p>
      {trialId !== undefined && hasNoResult && (
        <p>
          <Link href={`/jobs/replays/${encodeURIComponent(trialId)}`}>Show the job</Link>
        </p>
      )}
      <TextField
        label="Maximum messages per second"
        type="number"
        value={rate}
        onInput={setRate}
        hint="Empty: no limit."
      />
    </ConfirmDialog>
  )
}
