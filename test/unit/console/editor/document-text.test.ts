import { describe, expect, it } from '@jest/globals'
import { fieldText, fieldValue, policyFields } from '../../../../packages/console/src/editor/destination-fields.ts'
import { entriesOf, parseText, withValueAt } from '../../../../packages/console/src/editor/document-text.ts'

describe('a text', () => {
  it.each([
    ['{"a":1}', { kind: 'document', document: { a: 1 } }],
    ['[]', { kind: 'wrong', message: 'The text must be a JSON object.' }],
    ['null', { kind: 'wrong', message: 'The text must be a JSON object.' }],
  ])('%s', (text, expected) => expect(parseText(text)).toEqual(expected))

  it('that is not JSON says why', () => {
    expect(parseText('{')).toEqual({ kind: 'wrong', message: expect.stringMatching(/^The text is not JSON: /) })
  })
})

describe('the document with a value', () => {
  const document = { id: 'crm', webhooks: [{ url: 'a' }, { url: 'b' }], policy: { timeout: '3s' } }

  it.each<[string, (string | number)[], unknown, object]>([
    ['replaces it', ['webhooks', 1, 'url'], 'c', { ...document, webhooks: [{ url: 'a' }, { url: 'c' }] }],
    ['adds objects', ['filter', 'types'], ['track'], { ...document, filter: { types: ['track'] } }],
    ['adds an entry', ['webhooks', 2], { url: '' }, { ...document, webhooks: [...document.webhooks, { url: '' }] }],
    ['removes an entry', ['webhooks', 0], undefined, { ...document, webhooks: [{ url: 'b' }] }],
    ['removes an object that is empty', ['policy', 'timeout'], undefined, { id: 'crm', webhooks: document.webhooks }],
    ['removes nothing that is absent', ['policy', 'window'], undefined, document],
  ])('%s', (_, path, value, expected) => expect(withValueAt(document, path, value)).toEqual(expected))

  it('leaves the given document as it is', () => {
    withValueAt(document, ['webhooks', 0, 'url'], 'changed')
    expect(document.webhooks[0]).toEqual({ url: 'a' })
  })
})

describe('a field of the form', () => {
  const field = (name: string) => policyFields.find(({ path }) => path.at(-1) === name)!

  it.each<[string, string, unknown]>([
    ['ratePerSecond', '50', 50],
    ['ratePerSecond', 'many', 'many'],
    ['ratePerSecond', '', undefined],
    ['timeout', '3s', '3s'],
    ['schedule', '10s, 1m', ['10s', '1m']],
  ])('%s with the text %j', (name, text, value) => {
    expect(fieldValue(field(name), text)).toEqual(value)
    const shown = fieldText(field(name), value === undefined ? {} : { policy: { [name]: value } })
    expect(shown).toBe(text)
  })

  it('of a list accepts commas, spaces and line breaks', () => {
    expect(entriesOf(' a,b\n c,, ')).toEqual(['a', 'b', 'c'])
  })
})
