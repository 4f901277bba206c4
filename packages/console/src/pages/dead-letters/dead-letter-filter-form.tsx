import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { pathWith } from '../../api/query-parameters.ts'
import type { DeadLetterFilters } from '../../api/response-types.ts'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/text-field.tsx'
import { inputOf, timeOf } from './dead-letter-filters.ts'

/** A form that changes the address of the page, from which the list takes its filters. */
export function DeadLetterFilterForm({ filters }: { readonly filters: DeadLetterFilters }) {
  const [, navigate] = useLocation()
  const [text, setText] = useState({
    ...{ destination: filters.destination ?? '', reason: filters.reason ?? '', outcome: filters.outcome ?? '' },
    ...{ message: filters.message ?? '', since: inputOf(filters.since), until: inputOf(filters.until) },
  })
  const field = (name: keyof typeof text) => ({
    value: text[name],
    onInput: (value: string) => setText(before => ({ ...before, [name]: value })),
  })
  const apply = (event: Event): void => {
    event.preventDefault()
    const { since, until, ...others } = text
    const times = { since: timeOf(since, filters.since), until: timeOf(until, filters.until) }
    navigate(pathWith('/dead-letters', { ...others, ...times }))
  }
  return (
    <form class="filters" aria-label="Filter dead letters" onSubmit={apply}>
      <TextField label="Destination" {...field('destination')} />
      <TextField label="Reason" {...field('reason')} placeholder="retries_exhausted" />
      <TextField label="Outcome" {...field('outcome')} placeholder="http_5xx" />
      <TextField label="Message id" {...field('message')} />
      <TextField label="Since" type="datetime-local" {...field('since')} />
      <TextField label="Until" type="datetime-local" {...field('until')} />
      <div class="actions">
        <Button type="submit">Apply filters</Button>
        {Object.keys(filters).length > 0 && <Link href="/dead-letters">Remove filters</Link>}
      </div>
    </form>
  )
}
