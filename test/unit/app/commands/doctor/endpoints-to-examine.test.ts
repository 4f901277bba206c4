import { describe, expect, it } from '@jest/globals'
import { endpointsOf } from '../../../../../src/app/commands/doctor/examine.ts'
import { tlsIdentityOf } from '../../../../../src/core/network/tls-identity.ts'
import type { Destination } from '../../../../../src/core/settings/settings.ts'
import { webhookOf } from '../../../../support/builders.ts'
import { destination } from '../../../../support/dispatcher/harness.ts'

const at = (id: string, urls: readonly string[], change: Partial<Destination> = {}): Destination =>
  destination(id, { webhooks: urls.map((url, index) => ({ ...webhookOf(index), url })), ...change })
const [crm, erp] = ['crm', 'erp'].map(cert => tlsIdentityOf({ cert, key: undefined, ca: undefined }))
const shownOf = (...destinations: Destination[]): string[] => endpointsOf(destinations).map(({ which }) => which)

describe('endpointsOf', () => {
  it.each<[string, string[], string[]]>([
    [
      'omits the path, which may be a secret',
      shownOf(at('crm', ['https://a.example/T0/secret?key=k'])),
      ['crm/0 https://a.example'],
    ],
    [
      'merges webhooks with the same origin',
      shownOf(at('crm', ['https://a.example/1', 'https://a.example:443/2']), at('erp', ['http://a.example/1'])),
      ['crm/0, crm/1 https://a.example', 'erp/0 http://a.example'],
    ],
    [
      'shows at most three names',
      shownOf(...['a', 'b', 'c', 'd', 'e'].map(id => at(id, ['https://h.example:8443/']))),
      ['a/0, b/0, c/0 (and 2 more) https://h.example:8443'],
    ],
    [
      'keeps destinations with different client certificates apart',
      shownOf(
        at('crm', ['https://a.example/'], { tlsIdentity: crm }),
        at('erp', ['https://a.example/'], { tlsIdentity: erp }),
        at('bi', ['https://a.example/'], { tlsIdentity: crm }),
        at('plain', ['https://a.example/']),
      ),
      ['crm/0, bi/0 https://a.example', 'erp/0 https://a.example', 'plain/0 https://a.example'],
    ],
    ['skips a disabled destination', shownOf(at('crm', ['https://a.example/'], { enabled: false })), []],
    [
      'includes a paused destination',
      shownOf(at('crm', ['https://a.example/'], { paused: true })),
      ['crm/0 https://a.example'],
    ],
  ])('%s', (_, lines, expected) => {
    expect(lines).toEqual(expected)
  })
})
