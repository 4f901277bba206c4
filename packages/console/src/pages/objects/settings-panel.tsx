import { useEffect, useState } from 'preact/hooks'
import { objectPath } from '../../api/object-path.ts'
import type { ChangeResult, ConfigObject } from '../../api/response-types.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../components/button.tsx'
import { ErrorMessage } from '../../components/error-message.tsx'
import { Panel } from '../../components/panel.tsx'
import { TextBlock } from '../../components/text-block.tsx'
import { addFingerprintsToMasks } from '../../editor/add-fingerprints-to-masks.ts'
import { DestinationForm } from '../../editor/destination-form.tsx'
import { DocumentEditor } from '../../editor/document-editor.tsx'
import { parseText, textOf } from '../../editor/document-text.ts'
import { SourceForm } from '../../editor/source-form.tsx'
import { useDocumentCheck } from '../../editor/use-document-check.ts'
import { useCanOperate } from '../../session/session-context.ts'

export interface SettingsPanelProps {
  readonly object: ConfigObject
  readonly onChanged: () => void
}

/** The settings of a destination or source, with an editor for users who may change them. */
export function SettingsPanel({ object, onChanged }: SettingsPanelProps) {
  const canOperate = useCanOperate()
  const [isEditing, setEditing] = useState(false)
  const canEdit = canOperate && object.origin === 'api'
  return (
    <Panel
      title="Settings"
      isWide
      actions={canEdit && !isEditing && <Button onClick={() => setEditing(true)}>Edit</Button>}
    >
      {object.origin === 'file' && (
        <p class="notice">
          The configuration file defines this {object.kind}. To change the {object.kind}, edit the file. Running
          processes apply the change within 5 seconds.
        </p>
      )}
      {isEditing && canEdit ? (
        <SettingsEditor object={object} onChanged={onChanged} onClose={() => setEditing(false)} />
      ) : (
        <TextBlock label="Document" text={textOf(object.document)} />
      )}
    </Panel>
  )
}

/** The hint at the write keys of an existing source. */
const keptKeyHint =
  'The document shows *** instead of a stored key, often with the start of its SHA-256 in brackets: *** (1a2b3c4d). To keep the key, do not change this text.'

const editedText = (object: ConfigObject): string => textOf(addFingerprintsToMasks(object))

function SettingsEditor({ object, onChanged, onClose }: SettingsPanelProps & { readonly onClose: () => void }) {
  const [base, setBase] = useState(object)
  const [text, setText] = useState(() => editedText(object))
  const { send, isRunning, error } = useChange()
  const isChanged = text !== editedText(base)
  const path = objectPath(base)
  const check = useDocumentCheck({ path, expects: base.version, text, isChanged })
  const load = (): void => {
    setBase(object)
    setText(editedText(object))
  }
  const isOutdated = object.version > base.version
  useEffect(() => {
    if (isOutdated && !isChanged) load()
  }, [isOutdated, isChanged])
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    const parsed = parseText(text)
    if (parsed.kind === 'wrong') return
    const result = await send<ChangeResult>('PUT', path, { body: parsed.document, expects: base.version })
    if (result === undefined) return
    onChanged()
    onClose()
  }
  return (
    <form onSubmit={save}>
      {isOutdated && isChanged && (
        <div class="notice">
          <p>
            {object.changedBy} has changed this {object.kind} since you began to edit. Your changes are for version{' '}
            {base.version}, so they cannot be saved.
          </p>
          <Button onClick={load}>Discard my changes and load version {object.version}</Button>
        </div>
      )}
      <DocumentEditor
        text={text}
        onText={setText}
        check={check}
        form={form =>
          object.kind === 'source' ? (
            <SourceForm {...form} hint={keptKeyHint} />
          ) : (
            <DestinationForm {...form} hasSecret={false} />
          )
        }
      />
      {error !== undefined && <ErrorMessage error={error} />}
      <div class="actions">
        <Button type="submit" kind="primary" isDisabled={isRunning || !isChanged || check.kind === 'invalid'}>
          Save
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  )
}
