import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { pathWith } from '../../api/query-parameters.ts'
import { objectStates, type PageOfSources } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import type { DestinationFilters } from './destination-filters.ts'

/** Milliseconds without a key press after which the typed text filters the list. */
const pauseMs = 250

const stateOptions = [['', 'All states'], ...objectStates.map(state => [state, state] as const)] as const

/** A form that changes the address of the page, from which the list takes its filters. */
export function DestinationFilterForm({ filters }: { readonly filters: DestinationFilters }) {
  const [, navigate] = useLocation()
  const sources = useData<PageOfSources>('/v1/sources?limit=500')
  const [text, setText] = useState({ q: filters.q, source: filters.source })
  const timer = useRef<ReturnType<typeof setTimeout>>()
  useEffect(() => setText({ q: filters.q, source: filters.source }), [filters.q, filters.source])
  useEffect(() => () => clearTimeout(timer.current), [])
  const show = (changed: Partial<DestinationFilters>): void => {
    // Cancel the timer, which would later navigate with the old filters. The call of `navigate`
    // below also applies the typed text.
    clearTimeout(timer.current)
    navigate(pathWith('/destinations', { ...filters, ...text, ...changed, after: '' }), { replace: true })
  }
  const type = (changed: Partial<typeof text>): void => {
    setText(before => ({ ...before, ...changed }))
    clearTimeout(timer.current)
    timer.current = setTimeout(() => show(changed), pauseMs)
  }
  return (
    <form class="filters" aria-label="Filter destinations" onSubmit={event => event.preventDefault()}>
      <TextField label="Search" type="search" value={text.q} onInput={q => type({ q })} placeholder="Id or URL" />
      <SelectField label="State" value={filters.state} onInput={state => show({ state })} options={stateOptions} />
      <TextField
        label="Source"
        value={text.source}
        onInput={source => type({ source })}
        placeholder="Id of a source"
        proposals={(sources.data?.sources ?? []).map(({ id }) => id)}
      />
    </form>
  )
}
