import { useState } from 'preact/hooks'
import { TextField, type TextFieldProps } from '../components/text-field.tsx'
import { entriesOf } from './document-text.ts'

/**
 * A field for a list of texts, separated by commas. If `value` has the entries of the typed text,
 * the field shows the typed text, to keep a comma at the end while the user types.
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
