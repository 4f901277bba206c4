import { useId } from 'preact/hooks'
import { describedBy, FieldFrame, type FieldText } from './field-frame.tsx'

export interface TextFieldProps extends FieldText {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly type?: 'text' | 'password' | 'search' | 'number' | 'url' | 'datetime-local'
  readonly placeholder?: string
  readonly autocomplete?: 'off' | 'current-password'
  /** Values that the browser proposes. */
  readonly proposals?: readonly string[]
}

/** A field for one line of text. */
export function TextField(props: TextFieldProps) {
  const { value, onInput, type = 'text', placeholder, autocomplete = 'off', proposals, ...text } = props
  const id = useId()
  return (
    <FieldFrame id={id} {...text}>
      <input
        id={id}
        type={type}
        value={value}
        placeholder={placeholder}
        autocomplete={autocomplete}
        spellcheck={false}
        required={text.isRequired}
        list={proposals === undefined ? undefined : `${id}-proposals`}
        aria-describedby={describedBy(id, text)}
        aria-invalid={(text.problems ?? []).length > 0}
        onInput={event => onInput(event.currentTarget.value)}
      />
      {proposals !== undefined && (
        <datalist id={`${id}-proposals`}>
          {proposals.map(each => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </FieldFrame>
  )
}
