import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { sourcePath } from '../../api/object-path.ts'
import type { ChangeResult } from '../../api/response-types.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../components/button.tsx'
import { ErrorMessage } from '../../components/error-message.tsx'
import { SecretDialog } from '../../components/new-secret-dialog.tsx'
import { OperatePage } from '../../components/page-for-role-operate.tsx'
import { TextField } from '../../components/text-field.tsx'
import { DocumentEditor } from '../../editor/document-editor.tsx'
import { parseText, textOf } from '../../editor/document-text.ts'
import { SourceForm } from '../../editor/source-form.tsx'
import { useDocumentCheck } from '../../editor/use-document-check.ts'
import { newWriteKey } from '../../editor/write-keys.ts'

/** Adds a source. If the user enters no write key, the page makes one and shows it once. */
export function NewSourcePage() {
  return (
    <OperatePage title="Add a source" purpose="To add a source">
      <NewSourceForm />
    </OperatePage>
  )
}

function NewSourceForm() {
  const [, navigate] = useLocation()
  const { send, isRunning, error } = useChange()
  const [id, setId] = useState('')
  const [text, setText] = useState(() => textOf({}))
  const [newKey] = useState(newWriteKey)
  const [isCreated, setCreated] = useState(false)
  const path = id === '' ? undefined : sourcePath(id)
  const parsed = parseText(text)
  const hasOwnKey = parsed.kind === 'document' && parsed.document['writeKey'] !== undefined
  const complete = parsed.kind === 'wrong' || hasOwnKey ? text : textOf({ ...parsed.document, writeKey: newKey })
  const check = useDocumentCheck({ path, expects: 'absent', text: complete, isChanged: !isCreated })
  const show = (): void => navigate(`/sources/${encodeURIComponent(id)}`)
  const create = async (event: Event): Promise<void> => {
    event.preventDefault()
    const given = parseText(complete)
    if (path === undefined || given.kind === 'wrong') return
    const result = await send<ChangeResult>('PUT', path, { body: given.document, expects: 'absent' })
    if (result === undefined) return
    if (hasOwnKey) show()
    else setCreated(true)
  }
  if (isCreated)
    return (
      <SecretDialog title={`Write key of ${id}`} secret={newKey} onClose={show}>
        <p>The source was created. Applications authenticate with this key when they send events.</p>
      </SecretDialog>
    )
  return (
    <form class="panel panel-form" onSubmit={create}>
      <TextField
        label="Id"
        value={id}
        onInput={setId}
        hint="Letters, digits, dots, hyphens and underscores, for example web. You cannot change the id later."
        isRequired
      />
      <DocumentEditor
        text={text}
        onText={setText}
        check={check}
        form={form => <SourceForm {...form} hint="If empty, the console generates a key and shows it once." />}
      />
      {error !== undefined && <ErrorMessage error={error} />}
      <div class="actions">
        <Button type="submit" kind="primary" isDisabled={isRunning || id === '' || check.kind === 'invalid'}>
          Add source
        </Button>
        {/* While the request runs, the page must stay, because it has the only copy of the new key. */}
        <Button onClick={() => navigate('/sources')} isDisabled={isRunning}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
