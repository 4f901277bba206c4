import { destinationStates } from '../../core/operator/object-view.ts'
import { closed, count, flag, list, reference, type Schema, text, time } from './openapi-basic-schemas.ts'
import { liveDestination, liveInstallation } from './openapi-live-status-schemas.ts'
import { objectView, problems } from './openapi-object-schemas.ts'

const figures = { members: count, acknowledged: count, inFlight: count, unknown: count, different: count }
/**
 * An audience or a computed trait. `configured` is false for one that is only in the memberships
 * topic, not in the configuration.
 */
const audience = closed(
  {
    name: text,
    kind: { enum: ['audience', 'trait', null] },
    property: { type: ['string', 'null'], description: 'Name of the trait in the identify messages.' },
    configured: flag,
    lastSync: { anyOf: [closed({ syncId: count, beganAt: time }), { type: 'null' }] },
    destinations: list(closed({ id: text, connected: flag, disabled: flag, ...figures }, Object.keys(figures))),
  },
  ['lastSync'],
)

/** A row of the ledger. `named`: the properties that identify the row; empty for the totals. */
const ledgerRow = (named: Readonly<Record<string, Schema>>): Schema =>
  closed(
    {
      ...named,
      ...Object.fromEntries(
        ['admitted', 'replayed', 'repeated', 'delivered', 'deadLettered', 'dropped', 'waiting'].map(name => [
          name,
          count,
        ]),
      ),
      difference: {
        type: 'integer',
        description:
          'Number of lost deliveries, which have no result and do not wait for an attempt. Negative: Hookline counted more results than deliveries. Absent if Hookline could not read some counts. In `totals`: the sum of the absolute values of all rows.',
      },
    },
    ['difference'],
  )

/** The JSON bodies for the status, the ledger and the list of audiences. */
export const statusLedgerAndAudienceSchemas: Readonly<Record<string, Schema>> = {
  InstallationStatus: closed(
    {
      at: time,
      version: { ...text, description: 'The version of Hookline in the process that sent the response.' },
      partial: {
        const: true,
        description:
          'Present if numbers may be too low: Kafka did not report all offsets in time, or the process that sent the response has not read the status topic yet.',
      },
      groups: list(closed({ group: text, topics: list(closed({ topic: text, lag: count })) })),
      waiting: {
        ...list(closed({ tier: text, records: count })),
        description: 'Number of records that wait in each retry topic.',
      },
      destinations: closed(Object.fromEntries(destinationStates.map(state => [state, count]))),
      sources: closed({ enabled: count, excluded: count }),
      problems: { ...list(closed({ kind: objectView.kind, id: text, conflict: flag, problems })), maxItems: 100 },
      problemCount: {
        ...count,
        description:
          'Number of destinations and sources with a problem. For example, Hookline cannot use the object, or the configuration file and the API both define it. `problems` has only the first 100 of these objects.',
      },
      ...liveInstallation,
    },
    ['partial'],
  ),
  Ledger: closed(
    {
      ...{ at: time, since: time, until: time, exactSince: time },
      partial: {
        const: true,
        description: 'Present if Hookline could not read some counts, or if the response does not have all rows.',
      },
      totals: ledgerRow({}),
      rows: list(ledgerRow({ hour: time, destination: text })),
    },
    ['partial', 'exactSince'],
  ),
  AudienceList: closed(
    {
      readAt: {
        ...time,
        description:
          'Time at which Hookline read the numbers of users. Hookline reads them at most once every 10 s, so newer changes may be missing.',
      },
      partial: {
        const: true,
        description:
          'Present only until Hookline has read the numbers of users for the first time. Send the request again later.',
      },
      audiences: list(audience),
    },
    ['readAt', 'partial'],
  ),
  DestinationStatus: closed(
    {
      id: text,
      state: objectView.state,
      version: objectView.version,
      disabledAutomatically: reference('DisabledAutomatically'),
      problems,
      partial: {
        const: true,
        description: 'Present if numbers may be too low: Hookline could read only a part of the topics.',
      },
      waiting: list(closed({ tier: text, records: count, oldestAt: time })),
      ...liveDestination,
      lastFailures: {
        ...list(reference('FailedAttempt')),
        maxItems: 50,
        description:
          'The last failed attempts, newest first. Absent if `delivery.attemptsTopic` is `off`. Also absent if Hookline could not read the attempts topic in time; `partial` is then `true`.',
      },
    },
    ['partial', 'pace', 'pausedUntil', 'lastFailures', 'disabledAutomatically'],
  ),
}
