import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { defaultResendRate } from '../../../../../src/core/jobs/max-and-default-job-rates.ts'
import { callTypes } from '../../../../../src/core/message/message.ts'
import type { Resend } from '../../api/job-types.ts'
import { useChange } from '../../api/use-change.ts'
import { useIdempotencyKey } from '../../api/use-idempotency-key.ts'
import { Button } from '../../components/button.tsx'
import { ErrorMessage } from '../../components/error-message.tsx'
import { TextAreaField } from '../../components/text-area-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { localInput } from '../../components/time-text-and-input-values.ts'
import { type ResendForm, resendRequest } from './resend-request.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const lastHour = (destination: string): ResendForm => ({
  ...{ destination, types: [], userIds: '', rate: '' },
  since: localInput(Date.now() - hourMs),
  // The field has no seconds, so the current minute would exclude the newest events. The default is
  // therefore one minute later.
  until: localInput(Date.now() + minuteMs),
})

/** The form that creates a resend. */
export function ResendEvents({ destination }: { readonly destination: string }) {
  const [, navigate] = useLocation()
  const { send, isRunning, error } = useChange()
  const keyOf = useIdempotencyKey()
  const [form, setForm] = useState(() => lastHour(destination))
  const [wrong, setWrong] = useState<string>()
  const field = (name: Exclude<keyof ResendForm, 'types'>) => ({
    value: form[name],
    onInput: (value: string) => setForm(before => ({ ...before, [name]: value })),
  })
  const toggle = (type: string): void =>
    setForm(({ types, ...others }) => ({
      ...others,
      types: types.includes(type) ? types.filter(each => each !== type) : [...types, type],
    }))
  const start = async (event: Event): Promise<void> => {
    event.preventDefault()
    const request = resendRequest(form)
    setWrong(request.kind === 'wrong' ? request.message : undefined)
    if (request.kind === 'wrong') return
    const { body } = request
    const job = await send<Resend>('POST', '/v1/resends', { body, idempotencyKey: keyOf(body) })
    if (job !== undefined) navigate(`/jobs/resends/${encodeURIComponent(job.id)}`)
  }
  return (
    <form class="panel panel-form" onSubmit={start}>
      <p>
        Hookline reads the events of the time span below again, and delivers them only to the destination below. The
        message ids do not change, so the receiver may ignore events that it has already processed.
      </p>
      <TextField label="Destination" {...field('destination')} isRequired />
      <div class="columns">
        <TextField label="From" type="datetime-local" {...field('since')} isRequired />
        <TextField label="To" type="datetime-local" {...field('until')} isRequired />
      </div>
      <fieldset class="group">
        <legend>Types of messages</legend>
        <div class="checks">
          {callTypes.map(type => (
            <label key={type}>
              <input type="checkbox" checked={form.types.includes(type)} onChange={() => toggle(type)} /> {type}
            </label>
          ))}
        </div>
        <p class="hint">None selected: all types.</p>
      </fieldset>
      <TextAreaField label="User ids" rows={3} {...field('userIds')} hint="One per line. Empty: all users." />
      <TextField
        label="Maximum messages per second"
        type="number"
        {...field('rate')}
        hint={`Empty: ${defaultResendRate}.`}
      />
      {wrong !== undefined && (
        <p class="error" role="alert">
          {wrong}
        </p>
      )}
      {error !== undefined && <ErrorMessage error={error} listOf="resends" />}
      <div class="actions">
        <Button type="submit" kind="primary" isDisabled={isRunning}>
          Resend
        </Button>
      </div>
    </form>
  )
}
