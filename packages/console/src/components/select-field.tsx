import { useId } from 'preact/hooks'
import { describedBy, FieldFrame, type FieldText } from './field-frame.tsx'

export interface SelectFieldProps extends FieldText {
  readonly value: string
  readonly onInput: (value: string) => void
  /** Pairs of a value and the text that the user sees. */
  readonly options: readonly (readonly [string, string])[]
}

export function SelectField({ value, onInput, options, ...text }: SelectFieldProps) {
  const id = useId()
  return (
    <FieldFrame id={id} {...text}>
      <select
        id={id}
        value={value}
        aria-describedby={describedBy(id, text)}
        onInput={event => onInput(event.currentTarget.value)}
      >
        {options.map(([option, title]) => (
          <option key={option} value={option}>
            {title}
          </option>
        ))}
      </select>
    </FieldFrame>
  )
}
