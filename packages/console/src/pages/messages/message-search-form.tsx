import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { Button } from '../../components/button.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { localTime } from '../../components/time-text-and-input-values.ts'
import { type MessageSpan, messageAddress, spans } from './search-time-span.ts'

export interface MessageSearchProps {
  readonly id: string
  /** The time span in the page's URL. The form offers it in addition to `spans`. */
  readonly span: MessageSpan
}

export function MessageSearch({ id, span }: MessageSearchProps) {
  const [, navigate] = useLocation()
  const [text, setText] = useState(id)
  const [since, setSince] = useState(span.since ?? '')
  const isOffered = spans.some(([value]) => value === (span.since ?? ''))
  const options = isOffered ? spans : [...spans, [span.since ?? '', textOf(span)] as const]
  const search = (event: Event): void => {
    event.preventDefault()
    const wanted = text.trim()
    if (wanted === '') return
    const isSame = since === span.since
    navigate(messageAddress(wanted, isSame ? span : since === '' ? {} : { since }))
  }
  return (
    <form class="filters filters-search" aria-label="Search messages" onSubmit={search}>
      <TextField label="Message id" type="search" value={text} onInput={setText} />
      <SelectField label="Received" value={since} onInput={setSince} options={options} />
      <Button type="submit" kind="primary" isDisabled={text.trim() === ''}>
        Search
      </Button>
    </form>
  )
}

const textOf = ({ since = '', until }: MessageSpan): string =>
  until === undefined ? `Since ${localTime(since)}` : `${localTime(since)} to ${localTime(until)}`
