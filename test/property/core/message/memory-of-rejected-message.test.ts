import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { rejectionCodes } from '../../../../src/core/message/message-rejection.ts'
import { maxBytesOfRejected } from '../../../../src/core/message/request-refusal.ts'

const text = fc.string({ unit: 'binary', maxLength: 200 })
const rejected = fc.record({
  index: fc.nat({ max: 9_999 }),
  messageId: fc.option(fc.oneof(text, fc.constant('\u0001'.repeat(1_000)), fc.constant('中'.repeat(1_000))), {
    nil: undefined,
  }),
  code: fc.constantFrom(...rejectionCodes),
  message: fc.constant('A message must be a JSON object: send { "type": …, … }.'),
})

it('the memory of a rejected message covers its bytes in the response', () => {
  fc.assert(
    fc.property(rejected, each => {
      expect(maxBytesOfRejected(each)).toBeGreaterThan(Buffer.byteLength(JSON.stringify(each)))
    }),
  )
})
