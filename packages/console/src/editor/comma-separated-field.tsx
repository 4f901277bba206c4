import { useState } from 'preact/hooks'
import { TextField, type TextFieldProps } from '../components/text-field.tsx'
import { entriesOf } from './document-text.ts'

/**
 * A field for a list of texts, separated by commas. `value` is the list of the document. The field
 * shows the typed text as long as it has the same entries as `value`. If the field always showed
 * `value`, a comma at the end would disappear before the user can type the next entry.
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
