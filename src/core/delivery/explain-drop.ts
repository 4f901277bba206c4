import type { Event } from '../message/event.ts'
import type { Destination } from '../settings/settings.ts'
import { formatPath, type Path, valueAt } from '../settings/settings-problem.ts'
import { type Drop, type Route, type Routing, route } from './route.ts'

/** Why a destination would not get an event. */
export interface ExplainedDrop {
  readonly reason: Drop['reason'] | Extract<Route, { readonly kind: 'dead_lettered' }>['reason']
  /** A sentence for people, without capital letter and full stop. */
  readonly text: string
}

/** Explains why a destination would not get an event; `undefined` if it would get the event. */
export function explainDrop(destination: Destination, event: Event, routing: Routing): ExplainedDrop | undefined {
  const { id } = destination
  const routed = route({ ...event, destinationId: id }, routing)
  const drop = routed.kind === 'deliver' ? routed.drops[0] : undefined
  const reason = routed.kind === 'deliver' ? drop?.reason : routed.reason
  switch (reason) {
    case undefined:
      return undefined
    case 'disabled':
      return { reason, text: `destination '${id}' would not get the message, because ${disabledBy(destination)}` }
    case 'not_selected':
      return { reason, text: `the field 'integrations' of the message excludes destination '${id}'` }
    case 'filtered':
      return {
        reason,
        text: `the rule ${ruleText(destination, drop?.rule ?? [])} of destination '${id}' excludes the message`,
      }
    case 'no_destination':
      return { reason, text: `destination '${id}' is not connected to source '${event.sourceId}'` }
    case 'unknown_source':
      return { reason, text: `source '${event.sourceId}' does not exist` }
    default:
      return { reason, text: `destination '${id}' would not get the message` }
  }
}

const disabledBy = ({ disabledAutomatically }: Destination): string =>
  disabledAutomatically === undefined ? "its key 'enabled' is false" : 'Hookline has disabled it automatically'

/** Names a rule of the destination's filter, with its value. */
const ruleText = ({ filter }: Destination, rule: Path): string =>
  `${formatPath(['filter', ...rule])} = ${JSON.stringify(valueAt(filter, rule))}`
