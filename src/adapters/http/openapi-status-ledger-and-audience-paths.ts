import { audiencesPath, ledgerPath, statusPath } from './api-paths-and-methods.ts'
import { text } from './openapi-basic-schemas.ts'
import { inQuery, operation } from './openapi-operation-and-error-codes.ts'

/** The paths for the status, the ledger and the list of audiences, as OpenAPI 3.1. */
export const statusLedgerAndAudiencePaths: Readonly<Record<string, object>> = {
  [ledgerPath]: {
    get: operation({
      ...{ id: 'ledger', summary: 'Count deliveries by hour and destination', answer: 'Ledger' },
      parameters: [
        inQuery(
          'since',
          text,
          'Start of the count: a time in ISO 8601, or a duration before now such as 6h. The count includes the whole hour of this time. Default: 23 hours before `until`, or 23 hours before now if `until` is in the future.',
        ),
        inQuery(
          'until',
          text,
          'End of the count: a time in ISO 8601, or a duration before now such as 1h. The count includes the whole hour of this time. Default: now.',
        ),
        inQuery('destination', text, 'Only deliveries to this destination.'),
      ],
      codes: ['invalid_query'],
    }),
  },
  [audiencesPath]: {
    get: operation({
      ...{
        id: 'listAudiences',
        summary: 'List audiences, and how many of their members each destination has acknowledged',
        answer: 'AudienceList',
      },
      codes: ['invalid_query'],
    }),
  },
  [statusPath]: {
    get: operation({
      ...{
        id: 'status',
        summary:
          'Show the consumer lag, the number of records in retry topics, and the numbers of destinations and sources by state',
        answer: 'InstallationStatus',
      },
      codes: ['invalid_query'],
    }),
  },
}
