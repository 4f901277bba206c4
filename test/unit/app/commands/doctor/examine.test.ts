import { describe, expect, it } from '@jest/globals'
import { endpointsOf } from '../../../../../src/app/commands/doctor/examine.ts'
import type { Destination } from '../../../../../src/core/settings/settings.ts'
import { destination } from '../../../../support/dispatcher/harness.ts'

const at = (id: string, urls: readonly string[], change: Partial<Destination> = {}): Destination =>
  destination(id, {
    webhooks: urls.map((url, index) => ({
      label: String(index),
      url,
      urlHash: '00000000',
      headers: {},
      traceHeaders: false,
    })),
    ...change,
  })
const told = (...destinations: Destination[]): string[] => endpointsOf(destinations).map(({ which }) => which)

describe('endpoints', () => {
  it.each<[string, string[], string[]]>([
    ['the path may be a secret', told(at('crm', ['https://a.example/T0/secret?key=k'])), ['crm/0 https://a.example']],
    [
      'one place for many webhooks',
      told(at('crm', ['https://a.example/1', 'https://a.example:443/2']), at('erp', ['http://a.example/1'])),
      ['crm/0, crm/1 https://a.example', 'erp/0 http://a.example'],
    ],
    [
      'many names',
      told(...['a', 'b', 'c', 'd', 'e'].map(id => at(id, ['https://h.example:8443/']))),
      ['a/0, b/0, c/0 and 2 more https://h.example:8443'],
    ],
    ['a destination that is switched off', told(at('crm', ['https://a.example/'], { enabled: false })), []],
    ['one that is paused', told(at('crm', ['https://a.example/'], { paused: true })), ['crm/0 https://a.example']],
  ])('%s', (_, lines, expected) => {
    expect(lines).toEqual(expected)
  })
})
