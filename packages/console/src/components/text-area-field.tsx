import type { Ref } from 'preact'
import { useId } from 'preact/hooks'
import { describedBy, FieldFrame, type FieldText } from './field-frame.tsx'

export interface TextAreaFieldProps extends FieldText {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly rows: number
  readonly areaRef?: Ref<HTMLTextAreaElement>
}

/** A field for several lines of monospaced text. */
export function TextAreaField({ value, onInput, rows, areaRef, ...text }: TextAreaFieldProps) {
  const id = useId()
  return (
    <FieldFrame id={id} {...text}>
      <textarea
        id={id}
        ref={areaRef ?? null}
        rows={rows}
        value={value}
        spellcheck={false}
        class="code"
        aria-describedby={describedBy(id, text)}
        aria-invalid={(text.problems ?? []).length > 0}
        onInput={event => onInput(event.currentTarget.value)}
      />
    </FieldFrame>
  )
}
