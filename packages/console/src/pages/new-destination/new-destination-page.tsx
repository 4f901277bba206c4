import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { destinationPath } from '../../api/object-path.ts'
import type { ChangeResult, JsonDocument } from '../../api/response-types.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../components/button.tsx'
import { ErrorMessage } from '../../components/error-message.tsx'
import { OperatePage } from '../../components/page-for-role-operate.tsx'
import { TextField } from '../../components/text-field.tsx'
import { DestinationForm } from '../../editor/destination-form.tsx'
import { DocumentEditor } from '../../editor/document-editor.tsx'
import { parseText, textOf } from '../../editor/document-text.ts'
import { useDocumentCheck } from '../../editor/use-document-check.ts'

export function NewDestinationPage() {
  return (
    <OperatePage title="Add a destination" purpose="To add a destination">
      <NewDestinationForm />
    </OperatePage>
  )
}

const template: JsonDocument = { sources: [], webhooks: [{ url: '' }] }

function NewDestinationForm() {
  const [, navigate] = useLocation()
  const { send, isRunning, error } = useChange()
  const [id, setId] = useState('')
  const [text, setText] = useState(() => textOf(template))
  const path = id === '' ? undefined : destinationPath(id)
  const check = useDocumentCheck({ path, expects: 'absent', text, isChanged: text !== textOf(template) })
  const create = async (event: Event): Promise<void> => {
    event.preventDefault()
    const parsed = parseText(text)
    if (path === undefined || parsed.kind === 'wrong') return
    const result = await send<ChangeResult>('PUT', path, { body: parsed.document, expects: 'absent' })
    if (result !== undefined) navigate(`/destinations/${encodeURIComponent(id)}?new`)
  }
  return (
    <form class="panel panel-form" onSubmit={create}>
      <TextField
        label="Id"
        value={id}
        onInput={setId}
        hint="Letters, digits, dots, hyphens and underscores, for example crm. You cannot change the id later."
        isRequired
      />
      <DocumentEditor
        text={text}
        onText={setText}
        check={check}
        form={form => <DestinationForm {...form} hasSecret />}
      />
      {error !== undefined && <ErrorMessage error={error} />}
      <div class="actions">
        <Button type="submit" kind="primary" isDisabled={isRunning || id === '' || check.kind === 'invalid'}>
          Add destination
        </Button>
        <Link class="button" href="/destinations">
          Cancel
        </Link>
      </div>
    </form>
  )
}
