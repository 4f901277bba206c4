import { useState } from 'preact/hooks'
import { TextField, type TextFieldProps } from '../components/text-field.tsx'
import { entriesOf } from './document-text.ts'

/**
 * Shows the typed text if it has the same entries as `value`, otherwise `value`. The typed text may
 * end with a comma.
 */
export function CommaSeparatedField({ value, onInput, ...props }: TextFieldProps) {
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
