import { describe, expect, it } from '@jest/globals'
import { bothMarks, markIn, markOf, numberIn, versionsIn, webhooksWith } from '../changed-destinations.ts'

const mark = markOf(17, 123)
const document = webhooksWith('http://127.0.0.1:1/changed-1', mark)

describe('the marks of a change', () => {
  it('are in the id, the URL and a header of the webhook', () => {
    expect(document).toEqual({
      webhooks: [{ id: '17-123', url: 'http://127.0.0.1:1/changed-1/17-123', headers: { 'x-change': '17-123' } }],
    })
    expect([markIn(document), numberIn(mark), numberIn('main'), markIn({})]).toEqual([mark, 17, Number.NaN, 'none'])
  })

  it.each([
    ['17-123', '17-123', '17-123'],
    ['16-120', '17-123', '16-120 and 17-123'],
    ['17-123', undefined, '17-123 and undefined'],
  ])('of a request with the path %s and the header %s are %s', (path, header, marks) => {
    expect(bothMarks({ path, headers: { 'x-change': header }, body: '' })).toBe(marks)
  })
})

it('reads the versions of destinations from the records of the config topic', () => {
  const value = Buffer.from(JSON.stringify({ format: 1, document }))
  const records = [
    { key: Buffer.from('destination/changed-1'), value, headers: { version: '18' } },
    { key: Buffer.from('destination/changed-1'), value, headers: { version: '18', copy: '1' } },
    { key: Buffer.from('destination/changed-1'), value: null, headers: { version: '19' } },
    { key: Buffer.from('source/web'), value, headers: { version: '1' } },
  ]
  const read = { destination: 'changed-1', version: 18, mark, isCopy: false }
  expect(versionsIn(records)).toEqual([read, { ...read, isCopy: true }, { ...read, version: 19, mark: 'none' }])
})
