import type { AudienceInput } from '../../../src/core/audience/input.ts'
import type { MembershipRecord } from '../../../src/core/audience/membership-and-watermark-records.ts'
import { syncId } from '../../../src/core/audience/sync-id.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import { start } from '../builders.ts'

export const audienceInput: AudienceInput = {
  kind: 'observed',
  audience: 'Score',
  userId: 'ann',
  value: '"gold"' as JsonText,
  syncId: syncId(start * 1024),
  mode: 'full',
}

export const membershipRecord: MembershipRecord = {
  position: 17,
  membership: {
    desired: '"gold"',
    acknowledged: null,
    version: start * 1024 + 1,
    syncId: start * 1024,
    inFlight: { value: '"gold"', since: start, overtaken: true },
    doubt: { versions: 2 ** 31 + 1, until: start },
  },
  mark: null,
}
