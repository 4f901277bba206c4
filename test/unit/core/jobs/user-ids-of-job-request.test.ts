import { expect, it } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { maxJobUserIdBytes } from '../../../../src/core/jobs/job.ts'
import { readJobRequest } from '../../../../src/core/jobs/job-request.ts'
import { maxUserIdBytes } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import { destinationOf, start } from '../../../support/builders.ts'

const routing = createRouting({ sources: [], destinations: [destinationOf()] })
const read = (userIds: readonly string[]) =>
  readJobRequest('resend', { destination: 'crm', since: '2h', until: '1h', userIds: [...userIds] }, routing, start)

it('accepts the longest user ids that a message may have', () => {
  expect(read(['x'.repeat(maxUserIdBytes)])).toMatchObject({ kind: 'request' })
})

it('names the limit of all user ids when they are too long', () => {
  expect(read(['x'.repeat(maxJobUserIdBytes + 1)])).toMatchObject({
    problems: [{ hint: expect.stringContaining('together at most 64 KiB') }],
  })
})
