import { expect, it } from '@jest/globals'
import { hostileBodies } from '../../support/collector/hostile-bodies.ts'
import { hostileRequests, systematicRequests } from '../../support/collector/hostile-requests.ts'
import { basic } from '../../support/network/http-request-bytes.ts'

it('the first hostile requests have each shape in its largest form, with the key in a header and without a key', () => {
  const request = hostileRequests({ seed: 1, writeKey: 'key', largest: 2_000 })
  const first = Array.from({ length: systematicRequests }, (_, index) => request(index))
  const shapes = first.map(({ name }) => name.replace(/^\d+: (.*), key: .*/, '$1'))
  expect([...new Set(shapes)]).toEqual(expect.arrayContaining(Object.keys(hostileBodies)))
  for (const shape of new Set(shapes)) {
    const own = first.filter((_, index) => shapes[index] === shape)
    expect(own.map(({ name }) => name.replace(/.*, key: /, ''))).toEqual(['none, 2000', 'header, 2000'])
    const hasKey = own.map(({ pieces }) => pieces[0]?.includes(`Authorization: ${basic('key')}\r\n`))
    expect([shape, hasKey]).toEqual([shape, [false, true]])
  }
})
