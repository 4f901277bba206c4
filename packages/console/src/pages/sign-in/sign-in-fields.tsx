import { useState } from 'preact/hooks'
import type { ApiClient } from '../../api/api-client.ts'
import { type ApiError, toApiError } from '../../api/api-error.ts'
import type { Session } from '../../api/response-types.ts'
import { Button } from '../../components/button.tsx'
import { ErrorMessage } from '../../components/error-message.tsx'
import { TextField } from '../../components/text-field.tsx'

export interface SignInProps {
  readonly api: ApiClient
  readonly onSignedIn: (session: Session) => void
}

/** The field for an operator key, and the button that exchanges it for a session. */
export function SignInFields({ api, onSignedIn }: SignInProps) {
  const [key, setKey] = useState('')
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<ApiError>()
  const signIn = async (event: Event): Promise<void> => {
    event.preventDefault()
    setRunning(true)
    setError(undefined)
    try {
      await api.change('POST', '/v1/session', { body: { key } })
      onSignedIn(await api.get<Session>('/v1/session'))
    } catch (failure) {
      setError(toApiError(failure))
      setRunning(false)
    }
  }
  return (
    <form class="sign-in-fields" onSubmit={signIn}>
      <TextField
        label="Operator key"
        type="password"
        value={key}
        onInput={setKey}
        autocomplete="current-password"
        hint="A key of operator.keys in the configuration. Its role decides what you may do."
        isRequired
      />
      {error !== undefined && <ErrorMessage error={error} />}
      <Button kind="primary" type="submit" isDisabled={isRunning || key === ''}>
        {isRunning ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  )
}
