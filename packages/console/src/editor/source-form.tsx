import { maxWriteKeys } from '../../../../src/core/operator/max-write-keys.ts'
import { Button } from '../components/button.tsx'
import { ProblemList } from '../components/problem-list.tsx'
import { TextField } from '../components/text-field.tsx'
import type { DocumentFormProps } from './document-editor.tsx'
import { otherProblems, problemsAt } from './problems-by-field.ts'
import { withoutKey, withWriteKeys, writeKeysOf } from './write-keys.ts'

export interface SourceFormProps extends DocumentFormProps {
  readonly hint: string
}

/** A form with the write keys of a source. */
export function SourceForm({ document, onDocument, problems, hint }: SourceFormProps) {
  const given = writeKeysOf(document)
  const keys = given.length === 0 ? [''] : given
  const change = (next: readonly string[]): void => onDocument(withWriteKeys(document, next))
  return (
    <div class="form">
      <fieldset class="group">
        <legend>Write keys</legend>
        {keys.map((key, index) => (
          <div key={String(index)} class="field-with-button">
            <TextField
              label={`Write key ${index + 1}`}
              value={key}
              hint={index === 0 ? hint : undefined}
              onInput={text => change(keys.with(index, text))}
              problems={
                keys.length === 1 ? problemsAt(problems, 'writeKey') : problemsAt(problems, `writeKey[${index}]`)
              }
            />
            {keys.length > 1 && (
              <Button label={`Remove write key ${index + 1}`} onClick={() => change(withoutKey(keys, index))}>
                Remove
              </Button>
            )}
          </div>
        ))}
        {given.length > 0 && keys.length < maxWriteKeys && (
          <Button onClick={() => change([...keys, ''])}>Add a write key</Button>
        )}
      </fieldset>
      <ProblemList
        problems={otherProblems(
          problems,
          keys.length === 1 ? ['writeKey'] : keys.map((_, index) => `writeKey[${index}]`),
        )}
      />
    </div>
  )
}
