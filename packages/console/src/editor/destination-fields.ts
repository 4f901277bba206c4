import { valueAt } from '../../../../src/core/settings/problem.ts'
import type { JsonDocument } from '../api/types.ts'
import { entriesOf } from './document-text.ts'

/** A field of the form of a destination. */
export interface FormField {
  readonly label: string
  readonly path: readonly (string | number)[]
  readonly hint?: string
  readonly type?: 'text' | 'number' | 'password'
  /** Whether the value is a list of texts, separated by commas. */
  readonly isList?: boolean
  readonly isRequired?: boolean
}

export const sourcesField: FormField = {
  label: 'Sources',
  path: ['sources'],
  isList: true,
  isRequired: true,
  hint: 'Ids of the sources whose events the destination gets, separated by commas.',
}

export const secretField: FormField = {
  label: 'Shared secret',
  path: ['sharedSecret'],
  type: 'password',
  hint: 'Signs every request. Empty: no signature until the secret is rotated for the first time.',
}

const globalValue = 'Empty: the value of the installation.'

export const policyFields: readonly FormField[] = [
  {
    ...{ label: 'Attempts per second', path: ['policy', 'ratePerSecond'], type: 'number' },
    hint: 'Of the whole installation. Empty: no limit.',
  },
  {
    ...{ label: 'Concurrent requests', path: ['policy', 'maxConcurrency'], type: 'number' },
    hint: 'Of the whole installation to each webhook. Empty: no limit of this destination.',
  },
  { label: 'Timeout', path: ['policy', 'timeout'], hint: `For example 3s. ${globalValue}` },
  { label: 'Retry window', path: ['policy', 'window'], hint: `For example 2h. ${globalValue}` },
  {
    ...{ label: 'Schedule', path: ['policy', 'schedule'], isList: true },
    hint: `Waits between attempts, for example 10s, 1m, 10m. ${globalValue}`,
  },
]

/** The value of a field as text. */
export function fieldText({ path, isList = false }: FormField, document: JsonDocument): string {
  const value = valueAt(document, path)
  if (value === undefined || value === null) return ''
  if (isList && Array.isArray(value)) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The value of a text in the document; `undefined` removes the key. */
export function fieldValue({ isList = false, type }: FormField, text: string): unknown {
  if (text.trim() === '') return undefined
  if (isList) return entriesOf(text)
  const number = Number(text)
  return type === 'number' && Number.isFinite(number) ? number : text
}
