import avsc from 'avsc'

interface RecordSchema {
  readonly fields: readonly object[]
}

/** Adds a field to a schema, as a newer version of Hookline may do. */
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
