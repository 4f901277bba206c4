import type { ConsolePage } from './console-page-loads.ts'
import { destinationId, type Written } from './destinations-and-dead-letters.ts'
import type { Question } from './operator-answer-times.ts'

const busyUntil = 10
/** A destination with one in 10,000 of the dead letters. */
const few = destinationId(busyUntil)

/**
 * Selects the destination of the nth request. 251 and 10,000, the number of destinations, have no
 * common divisor, so all destinations are used before one is repeated.
 */
const idOf =
  (destinations: number) =>
  (n: number): string =>
    destinationId((n * 251) % destinations)
const writtenOf =
  (written: readonly Written[]) =>
  (n: number): Written =>
    written[n % written.length] as Written

export interface Contents {
  readonly destinations: number
  readonly sources: number
  readonly written: readonly Written[]
}

/**
 * The kinds of requests, in the order of measurement. The numbers in their names are correct for a
 * million dead letters.
 */
export function questionsOf({ destinations, sources, written }: Contents): readonly Question[] {
  const [idAt, writtenAt] = [idOf(destinations), writtenOf(written)]
  const list = '/v1/destinations?limit=100'
  const letters = '/v1/dead-letters?limit=100'
  const after = (next: string | undefined): string => (next === undefined ? '' : `&after=${encodeURIComponent(next)}`)
  return [
    { name: 'status', path: () => '/v1/status' },
    { name: 'destinations', path: () => list },
    { name: 'destinations, next page', path: (_, next) => list + after(next) },
    { name: 'destinations, search', path: n => `${list}&q=${idAt(n)}` },
    { name: 'destinations, search without a match', path: () => `${list}&q=nothing` },
    { name: 'destinations by state', path: () => `${list}&state=enabled` },
    { name: 'destinations by source', path: n => `${list}&source=s${n % sources}` },
    { name: 'a destination', path: n => `/v1/destinations/${idAt(n)}` },
    { name: 'status of a destination', path: n => `/v1/destinations/${idAt(n)}/status` },
    { name: 'dead letters', path: () => letters },
    { name: 'dead letters, next page', path: (_, next) => letters + after(next) },
    { name: 'dead letters of the last hour', path: () => `${letters}&since=1h` },
    { name: 'dead letters by reason', path: () => `${letters}&reason=http_4xx` },
    {
      name: 'dead letters of a destination with 50,000',
      path: n => `${letters}&destination=${destinationId(n % busyUntil)}`,
    },
    { name: 'dead letters of a destination with 100', path: () => `${letters}&destination=${few}` },
    {
      name: 'dead letters of a destination with 100, next page',
      path: (_, next) => `${letters}&destination=${few}${after(next)}`,
    },
    { name: 'a dead letter', path: n => `/v1/dead-letters/${encodeURIComponent(writtenAt(n).key)}` },
    { name: 'a message', path: n => `/v1/messages/${writtenAt(n).messageId}` },
    { name: 'changes', path: () => '/v1/changes' },
    { name: 'changes of a day', path: () => '/v1/changes?since=24h' },
    { name: 'sources', path: () => '/v1/sources?limit=100' },
    { name: '500 sources', path: () => '/v1/sources?limit=500' },
    { name: 'audiences', path: () => '/v1/audiences' },
    { name: 'ledger', path: () => '/v1/ledger' },
  ]
}

export const jobQuestions = (replay: string): readonly Question[] => [
  { name: 'replays', path: () => '/v1/replays' },
  { name: 'a replay', path: () => `/v1/replays/${replay}` },
  { name: 'resends', path: () => '/v1/resends' },
]

export function pagesOf({ destinations, written }: Contents, replay: string): readonly ConsolePage[] {
  const [idAt, writtenAt] = [idOf(destinations), writtenOf(written)]
  return [
    { name: 'Overview', path: () => '/' },
    { name: 'Destinations', path: () => '/destinations' },
    { name: 'Destinations, search', path: n => `/destinations?q=${idAt(n)}` },
    { name: 'a destination', path: n => `/destinations/${idAt(n)}` },
    { name: 'Add a destination', path: () => '/new-destination' },
    { name: 'Dead letters', path: () => '/dead-letters' },
    {
      name: 'Dead letters of a destination with 50,000',
      path: n => `/dead-letters?destination=${destinationId(n % busyUntil)}`,
    },
    { name: 'Dead letters of a destination with 100', path: () => `/dead-letters?destination=${few}` },
    { name: 'Dead letters by reason', path: () => '/dead-letters?reason=http_4xx' },
    { name: 'a dead letter', path: n => `/dead-letters/${encodeURIComponent(writtenAt(n).key)}` },
    { name: 'a message', path: n => `/messages/${writtenAt(n).messageId}` },
    { name: 'Jobs', path: () => '/jobs' },
    { name: 'a job', path: () => `/jobs/replays/${replay}` },
    { name: 'Resend events', path: () => '/resend' },
    { name: 'Sources', path: () => '/sources' },
    { name: 'Audiences', path: () => '/audiences' },
    { name: 'Changes', path: () => '/changes' },
  ]
}
