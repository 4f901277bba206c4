import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { JsonDocument, Problem } from '../api/response-types.ts'
import { parseText, textOf } from './document-text.ts'
import { JsonForm } from './json-form.tsx'
import { type Check, repeatMs } from './use-document-check.ts'

export interface DocumentEditorProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly check: Check
  /** The form with the most used fields. */
  readonly form: (props: DocumentFormProps) => ComponentChildren
}

export interface DocumentFormProps {
  readonly document: JsonDocument
  readonly onDocument: (document: JsonDocument) => void
  readonly problems: readonly Problem[]
}

const noProblems: readonly Problem[] = []

/** Edits a document as a form or as JSON. */
export function DocumentEditor({ text, onText, check, form }: DocumentEditorProps) {
  const [isJson, setJson] = useState(false)
  const parsed = parseText(text)
  const problems = check.kind === 'invalid' ? check.problems : noProblems
  return (
    <>
      <fieldset class="switch">
        <legend class="visually-hidden">Editor</legend>
        {[false, true].map(json => (
          <label key={String(json)}>
            <input type="radio" name="editor" checked={isJson === json} onChange={() => setJson(json)} />
            <span>{json ? 'JSON' : 'Form'}</span>
          </label>
        ))}
      </fieldset>
      {isJson || parsed.kind === 'wrong' ? (
        <JsonForm text={text} onText={onText} problems={problems} />
      ) : (
        form({ document: parsed.document, onDocument: document => onText(textOf(document)), problems })
      )}
      <CheckResult check={check} />
    </>
  )
}

/** The result of the check in words, without the problems, which are shown at their fields. */
function CheckResult({ check }: { readonly check: Check }) {
  return (
    <p class={`check check-${check.kind}`} role="status">
      {check.kind === 'unchanged' &&
        'Hookline checks the document while you edit. It checks a new document only after you enter an id.'}
      {check.kind === 'checking' && 'Checking…'}
      {check.kind === 'unknown' &&
        `Hookline could not check the document, and tries again in ${repeatMs / 1000} seconds. You can also save it now.`}
      {check.kind === 'invalid' && check.message}
      {check.kind === 'valid' &&
        (check.changedFields.length === 0
          ? 'The document is valid. Saving it would change nothing.'
          : `The document is valid. Saving it changes these fields: ${check.changedFields.join(', ')}.`)}
    </p>
  )
}
