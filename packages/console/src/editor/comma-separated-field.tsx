import { useState } from 'preact/hooks'
import { TextField, type TextFieldProps } from '../components/text-field.tsx'
import { entriesOf } from './document-text.ts'

/**
 * A field for a list of texts, separated by commas. `value` is the list of the document. While the
 * typed text has the same entries as `value`, the field shows the typed text. Otherwise the field
 * would remove a comma at the end, before the user has typed the next entry.
 */
export function ListField({ value, onInput, ...props }: TextFieldProps) {
  const [typed, setTyped] = useState(value)
  const shown = entriesOf(typed).join(', ') === value ? typed : value
  return (
    <TextField
      {...props}
      value={shown}
      onInput={text => {
        setTyped(text)
        onInput(text)
      }}
    />
  )
}
