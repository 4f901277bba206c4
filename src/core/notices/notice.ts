import { hash } from 'node:crypto'
import type { ObjectChange } from '../config-objects/config-objects.ts'
import type { Outcome } from '../delivery/outcomes-reasons-and-classification.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import type { Event } from '../message/event.ts'
import { factsSource, operationsSource, ownEvent } from '../message/own-event-builder-and-source-ids.ts'
import { isoOf } from '../message/timestamp.ts'
import type { AutomaticDisabling } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'
import { type DeadLetterCounts, type DestinationFacts, encodeFacts } from './destination-facts.ts'

interface FromFacts {
  readonly destination: string
  /** The message id of the last destination facts that the notice includes. */
  readonly factsId: string
}

/** What a notice reports: something that happened to a destination or to the configuration. */
export type Notice =
  | (FromFacts & { readonly kind: 'failing'; readonly outcomes: readonly Outcome[] })
  | (FromFacts & {
      readonly kind: 'recovered'
      readonly outcomes: readonly Outcome[]
      readonly failingSince: EpochMs | undefined
    })
  | (FromFacts & { readonly kind: 'gone'; readonly webhooks: readonly string[] })
  | {
      readonly kind: 'disabled'
      readonly destination: string
      /** When this process noticed that the destination was disabled. */
      readonly at: EpochMs
      readonly automatically?: AutomaticDisabling | undefined
    }
  | (FromFacts & {
      readonly kind: 'dead_lettered'
      readonly reasons: DeadLetterCounts
      /** When a dispatcher reported the first dead letter of this notice. */
      readonly since: EpochMs
    })
  | { readonly kind: 'configuration_changed'; readonly change: ObjectChange }

export const noticeKinds = [
  'failing',
  'recovered',
  'gone',
  'disabled',
  'dead_lettered',
  'configuration_changed',
] as const satisfies readonly Notice['kind'][]

/** The event name of each kind of notice. */
export const noticeEvents = {
  failing: 'Destination Failing',
  recovered: 'Destination Recovered',
  gone: 'Destination Gone',
  disabled: 'Destination Disabled',
  dead_lettered: 'Deliveries Dead-Lettered',
  configuration_changed: 'Configuration Changed',
} as const satisfies Readonly<Record<Notice['kind'], string>>

/** Maximum changed fields in a notice: a change of a whole document can have hundreds. */
const maxFields = 100

const minuteMs = 60_000

/**
 * Returns the event of a notice. If two processes create the same notice, both events have the same
 * message id, so that receivers recognise the repetition.
 */
export function noticeEvent(notice: Notice, to: string, at: EpochMs): Event {
  const subject = subjectOf(notice)
  return ownEvent({
    type: 'track',
    messageId: `notice-${hash('sha256', [notice.kind, subject, causeOf(notice)].join('\n')).slice(0, 40)}`,
    anonymousId: subject,
    event: noticeEvents[notice.kind],
    sourceId: operationsSource,
    destinationId: to,
    properties: JSON.stringify(propertiesOf(notice, at)) as JsonText,
    at,
  })
}

function causeOf(notice: Notice): string {
  switch (notice.kind) {
    case 'configuration_changed':
      return `version ${notice.change.version}`
    case 'disabled':
      return String(notice.automatically?.at ?? Math.floor(notice.at / minuteMs))
    default:
      return notice.factsId
  }
}

/**
 * Returns the event that carries facts to the process that makes notices. The event is not
 * delivered.
 */
export const factsEvent = (facts: DestinationFacts, id: string, at: EpochMs): Event =>
  ownEvent({
    type: 'track',
    messageId: `facts-${id}`,
    anonymousId: subjectOfDestination(facts.destination),
    event: 'Destination Facts',
    sourceId: factsSource,
    properties: encodeFacts(facts),
    at,
  })

/**
 * The anonymous id and record key of a notice. It is not a user id, because the deletion of a user
 * with this id would stop the notices.
 */
const subjectOf = (notice: Notice): string =>
  notice.kind === 'configuration_changed'
    ? `${notice.change.kind}/${notice.change.id}`
    : subjectOfDestination(notice.destination)

const subjectOfDestination = (id: string): string => `destination/${id}`

function propertiesOf(notice: Notice, at: EpochMs): object {
  switch (notice.kind) {
    case 'failing':
      return { destination: notice.destination, outcomes: notice.outcomes }
    case 'recovered':
      return {
        destination: notice.destination,
        outcomes: notice.outcomes,
        ...(notice.failingSince !== undefined && { failingSince: isoOf(notice.failingSince) }),
      }
    case 'gone':
      return { destination: notice.destination, webhooks: notice.webhooks }
    case 'disabled':
      return { destination: notice.destination, ...(notice.automatically && disablingOf(notice.automatically)) }
    case 'dead_lettered': {
      const { destination, reasons, since } = notice
      const count = Object.values(reasons).reduce((sum, each) => sum + each, 0)
      return { destination, count, reasons, since: isoOf(since), until: isoOf(at) }
    }
    case 'configuration_changed': {
      const { kind, id, action, version, by, fields } = notice.change
      const changedAt = isoOf(notice.change.at)
      return { kind, id, action, version, changedBy: by, changedAt, fields: fields.slice(0, maxFields) }
    }
  }
}

const disablingOf = ({ reason, failingSince }: AutomaticDisabling): object => ({
  reason,
  failingSince: isoOf(failingSince),
})
