import { hash } from 'node:crypto'
import type { Event } from '../message/event.ts'
import type { MessageType } from '../message/message.ts'
import { isOwnSource } from '../message/own-event-builder-and-source-ids.ts'
import type { Destination, DestinationFilter } from '../settings/settings.ts'
import { type FieldPath, type FilterFields, parseFieldPath } from './filter-field-values.ts'
import { matches, type NamePattern, parsePattern } from './name-pattern.ts'

/* The filter of a destination. A delivery that waits in a retry topic is not filtered again. */

/**
 * The rule of a filter that stops an event, as the path of the rule within the setting `filter`.
 */
export type FilterRule =
  | readonly ['types']
  | readonly ['events', 'include']
  | readonly ['events', 'exclude', number]
  | readonly ['sample', 'percent']
  | readonly ['where', number]

type Condition = NonNullable<DestinationFilter['where']>[number]

interface CompiledFilter {
  readonly types: ReadonlySet<MessageType> | undefined
  readonly include: readonly NamePattern[] | undefined
  readonly exclude: readonly NamePattern[]
  readonly percent: number | undefined
  readonly where: readonly { readonly path: FieldPath; readonly condition: Condition }[]
}

/**
 * Whether an event skips all filters. This applies to delete messages and to Hookline's own events.
 * For example, if a filter stopped an audience change, the destination would keep the old value.
 */
export const isNeverFiltered = ({ sourceId, message }: Event): boolean =>
  message.type === 'delete' || isOwnSource(sourceId)

/**
 * The first rule that stops a message, if any. `where` is checked last, because only its conditions
 * parse JSON.
 */
export function filteredBy(destination: Destination, fields: FilterFields): FilterRule | undefined {
  const { filter } = destination
  if (filter === undefined) return undefined
  const { types, include, exclude, percent, where } = compiledOf(destination, filter)
  if (types !== undefined && !types.has(fields.type)) return ['types']
  const name = fields.eventName
  if (name !== undefined) {
    if (include !== undefined && !include.some(pattern => matches(pattern, name))) return ['events', 'include']
    const index = exclude.findIndex(pattern => matches(pattern, name))
    if (index >= 0) return ['events', 'exclude', index]
  }
  if (percent !== undefined && !isInSample(destination.id, fields.userKey, percent)) return ['sample', 'percent']
  const index = where.findIndex(({ path, condition }) => !holds(condition, fields.valueAt(path)))
  return index < 0 ? undefined : ['where', index]
}

/**
 * The compiled filters. A reload of the configuration creates new `Destination` objects; the
 * entries of the old objects are garbage-collected.
 */
const compiled = new WeakMap<Destination, CompiledFilter>()

function compiledOf(destination: Destination, filter: DestinationFilter): CompiledFilter {
  const known = compiled.get(destination)
  if (known !== undefined) return known
  const made = compile(filter)
  compiled.set(destination, made)
  return made
}

const compile = ({ types, events, where = [], sample }: DestinationFilter): CompiledFilter => ({
  types: types && new Set(types),
  include: events?.include?.map(parsePattern),
  exclude: (events?.exclude ?? []).map(parsePattern),
  percent: sample?.percent,
  where: where.map(condition => ({ path: parseFieldPath(condition.path), condition })),
})

/**
 * Whether a destination's sample contains a user. The answer is the same in every process and
 * version of Hookline. The hash differs from that of Kafka's partitioner, so that a sample covers
 * all partitions.
 */
function isInSample(destinationId: string, userKey: string, percent: number): boolean {
  const digest = hash('sha256', `${destinationId}\n${userKey}`, 'buffer')
  return (digest.readUIntBE(0, 6) / 2 ** 48) * 100 < percent
}

function holds({ op, value }: Condition, found: unknown): boolean {
  switch (op) {
    case 'eq':
      return found === value
    case 'ne':
      return found !== value
    case 'in':
      return Array.isArray(value) && value.includes(found)
    case 'exists':
      return (found !== undefined) === value
    case 'gt':
      return typeof found === 'number' && found > (value as number)
    case 'gte':
      return typeof found === 'number' && found >= (value as number)
    case 'lt':
      return typeof found === 'number' && found < (value as number)
    case 'lte':
      return typeof found === 'number' && found <= (value as number)
    case 'prefix':
      return typeof found === 'string' && found.startsWith(value as string)
  }
}
