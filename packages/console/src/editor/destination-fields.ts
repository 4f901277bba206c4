import { valueAt } from '../../../../src/core/settings/settings-problem.ts'
import type { JsonDocument } from '../api/response-types.ts'
import { entriesOf } from './document-text.ts'

export interface FormField {
  readonly label: string
  readonly path: readonly (string | number)[]
  readonly hint?: string
  readonly type?: 'text' | 'number' | 'password'
  /** Whether the value is a list of texts. The form field shows the texts separated by commas. */
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
  hint: 'Hookline signs every request with this secret (HMAC). If empty, requests have no HMAC signature. To create a secret later, use "Rotate secret" on the page of the destination.',
}

const fileValue = (key: string): string => `If empty, the value of ${key} in the configuration file applies.`

export const policyFields: readonly FormField[] = [
  {
    ...{ label: 'Maximum attempts per second', path: ['policy', 'ratePerSecond'], type: 'number' },
    hint: 'The limit applies to all Hookline processes together. Empty: no limit.',
  },
  {
    ...{ label: 'Maximum concurrent requests', path: ['policy', 'maxConcurrency'], type: 'number' },
    hint: 'All Hookline processes together send at most this many concurrent requests to each webhook. If empty, only the limits of the section "delivery" of the configuration file apply.',
  },
  {
    ...{ label: 'Timeout', path: ['policy', 'timeout'] },
    hint: `Time limit of one request, for example 3s. ${fileValue('delivery.timeout')}`,
  },
  {
    ...{ label: 'Retry window', path: ['policy', 'window'] },
    hint: `Time limit for retries, counted from when Hookline first read the event, for example 2h. If no attempt succeeds in this time, Hookline dead-letters the delivery. Maximum: the value of delivery.window. ${fileValue('delivery.window')}`,
  },
  {
    ...{ label: 'Schedule', path: ['policy', 'schedule'], isList: true },
    hint: `Times to wait between attempts, for example 10s, 1m, 10m. ${fileValue('delivery.schedule')}`,
  },
]

/** The value at the field's path, as text. */
export function fieldText({ path, isList = false }: FormField, document: JsonDocument): string {
  const value = valueAt(document, path)
  if (value === undefined || value === null) return ''
  if (isList && Array.isArray(value)) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * Converts the text of a form field to a value of the document. An empty text becomes `undefined`,
 * which removes the key from the document.
 */
export function fieldValue({ isList = false, type }: FormField, text: string): unknown {
  if (text.trim() === '') return undefined
  if (isList) return entriesOf(text)
  const number = Number(text)
  return type === 'number' && Number.isFinite(number) ? number : text
}
