import { expect, it } from '@jest/globals'
import { createConnectionRules, UnresolvedName } from '../../../../src/adapters/webhook/connection-rules.ts'

it.each([true, false])('a name without an address does not end the process (all: %s)', async all => {
  const { connect } = createConnectionRules({ allow: [], ports: undefined, ca: undefined } as never, async () => [])
  const answer = Promise.withResolvers<unknown>()
  connect.lookup('empty.example.com', { all }, answer.resolve)
  const error = await answer.promise
  expect(error).toBeInstanceOf(UnresolvedName)
  expect(error).toMatchObject({ code: 'ENOTFOUND', message: expect.stringContaining('the name has no addresses') })
})
