export type Schema = Readonly<Record<string, unknown>>

/** The basic schemas of the operator API. */
export const text = { type: 'string' } as const
export const time = { type: 'string', description: 'ISO 8601, UTC.' } as const
export const count = { type: 'integer', minimum: 0 } as const
export const flag = { type: 'boolean' } as const
export const list = (items: Schema): Schema => ({ type: 'array', items })
export const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** An object with these properties only, all required except `optional`. */
export const closed = (properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter(name => !optional.includes(name)),
  properties,
  additionalProperties: false,
})
