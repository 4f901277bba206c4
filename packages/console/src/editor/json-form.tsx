import { useRef } from 'preact/hooks'
import type { Problem } from '../api/response-types.ts'
import { Button } from '../components/button.tsx'
import { TextAreaField } from '../components/text-area-field.tsx'
import { placesOf } from './problem-lines-in-json.ts'

export interface JsonFormProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly problems: readonly Problem[]
}

/** The document as JSON. Each problem has a button that selects its line. */
export function JsonForm({ text, onText, problems }: JsonFormProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const select = (offset: number): void => {
    const end = text.indexOf('\n', offset)
    area.current?.focus()
    area.current?.setSelectionRange(offset, end === -1 ? text.length : end)
  }
  return (
    <>
      <TextAreaField
        label="Document"
        value={text}
        onInput={onText}
        rows={Math.min(32, text.split('\n').length + 2)}
        areaRef={area}
        hint="A stored secret is shown as *** or as *** (1a2b3c4d). To keep the secret, do not change this text. In brackets: the first digits of the SHA-256 of the secret."
      />
      {problems.length > 0 && (
        <ul class="placed-problems">
          {placesOf(text, problems).map(({ path, message, hint, line, offset }) => (
            <li key={`${path} ${message}`}>
              <Button onClick={() => select(offset)}>Line {line}</Button>
              <span>
                {path !== '' && <code>{path}</code>} {message}
                {hint !== undefined && hint !== '' && <span class="hint"> — {hint}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
