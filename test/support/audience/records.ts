import avsc from 'avsc'
import type { AudienceInput } from '../../../src/core/audience/input.ts'
import type { MembershipRecord } from '../../../src/core/audience/record.ts'
import { syncId } from '../../../src/core/audience/sync-watermark.ts'
import type { JsonText } from '../../../src/core/units.ts'
import { start } from '../dispatcher/deliveries.ts'

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

interface RecordSchema {
  readonly fields: readonly object[]
}

/** The schema with one more field, as a newer version can have it. */
export function withField(schema: string, field: object): object {
  const own = JSON.parse(schema) as RecordSchema
  return { ...own, fields: [field, ...own.fields] }
}

/** Encodes a value as a writer with this schema does. */
export function writtenAs(schemaId: number, schema: object, value: object): Buffer {
  const frame = Buffer.alloc(5)
  frame.writeInt32BE(schemaId, 1)
  const type = avsc.Type.forSchema(schema as avsc.Schema, { wrapUnions: 'never', omitRecordMethods: true })
  return Buffer.concat([frame, type.toBuffer(value)])
}
