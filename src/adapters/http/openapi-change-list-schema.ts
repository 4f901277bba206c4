import { objectKinds } from '../../core/config-objects/config-objects.ts'
import { closed, count, list, type Schema, text, time } from './openapi-basic-schemas.ts'

const change = closed({
  kind: { enum: objectKinds },
  id: text,
  version: count,
  action: { enum: ['created', 'updated', 'deleted'] },
  by: {
    ...text,
    description:
      'Name of the operator key that made the change. For a change by Hookline itself: a name that begins with `hookline.`.',
  },
  fields: { ...list(text), description: 'Paths of the changed fields.' },
  at: time,
})

export const changeList: Schema = closed(
  {
    partial: {
      const: true,
      description:
        'Present when more than 1,000 changes match the request: `changes` has only the newest 1,000. With or without `partial`, changes older than 7 days may be missing, because Kafka may remove them.',
    },
    changes: { ...list(change), maxItems: 1_000 },
  },
  ['partial'],
)
