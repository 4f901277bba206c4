import type { ConfigObject, DeadLetterDetail, Role } from '../../../packages/console/src/api/response-types.ts'
import { createFakeJobs } from './fake-jobs.ts'
import { deleted, notFound, ok, refusal, replaced } from './fake-object-replacement-and-deletion.ts'
import * as fixtures from './fake-operator-api-data.ts'
import { createFakeSources } from './fake-sources.ts'

export interface Call {
  readonly method: string
  /** The parts of the path after `/v1/`. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  /** The version in `If-Match`; NaN if the header is absent. */
  readonly expects: number
  readonly role: Role | undefined
}

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface FakeRoutes {
  readonly answer: (call: Call) => Answer
  readonly destinations: Map<string, ConfigObject>
  readonly sources: Map<string, ConfigObject>
  readonly deadLetters: DeadLetterDetail[]
  /** Makes a destination report its first delivery. */
  readonly deliverTo: (id: string) => void
  /** Removes a path from the fake API, to simulate an earlier version of the operator service. */
  readonly remove: (path: string) => void
}

/** The routes of the fake operator API with their state, and `count` destinations. */
export function createFakeRoutes(count: number): FakeRoutes {
  const destinations = fixtures.manyDestinations(count)
  const sources = createFakeSources(destinations)
  const deadLetters = fixtures.deadLetters()
  const jobs = createFakeJobs(deadLetters)
  const delivered = new Set<string>()
  const removed = new Set<string>()

  function destinationAnswer(call: Call): Answer {
    const [, id, action] = call.path
    if (id === undefined) return ok(pageOf([...destinations.values()], call.query))
    const object = destinations.get(id)
    if (call.method === 'PUT')
      return replaced(call, { kind: 'destination', id }, { objects: destinations, problems: problemsOf(call.body) })
    if (object === undefined) return notFound
    if (call.method === 'DELETE') return deleted(call, object, destinations)
    switch (action) {
      case undefined:
        return ok(object)
      case 'status':
        return ok(statusOf(object))
      case 'test':
        return ok(testResult)
      case 'preview':
        return ok(fixtures.requestPreview)
      case 'rotate-secret':
        return ok({ ...object, secret: 'whsec_bmV3IHNlY3JldA==', rotatesAt: new Date(Date.now() + 86_400_000) })
      default:
        return ok(switched(object, action))
    }
  }

  function statusOf(object: ConfigObject): object {
    const status = fixtures.destinationStatus(object)
    if (!delivered.has(object.id)) return status
    return { ...status, results: { ...status.results, lastHour: { ...status.results?.lastHour, delivered: 1 } } }
  }

  function switched(object: ConfigObject, action: string): ConfigObject {
    const document: ConfigObject['document'] = {
      ...object.document,
      ...(action === 'pause' || action === 'resume'
        ? { paused: action === 'pause' }
        : { enabled: action === 'enable' }),
    }
    const state = document['enabled'] === false ? 'disabled' : document['paused'] === true ? 'paused' : 'enabled'
    const { disabledAutomatically: _, ...others } = object
    const changed = { ...others, document, state, version: object.version + 1 } as const
    destinations.set(object.id, changed)
    return changed
  }

  function answer(call: Call): Answer {
    const [list = '', id] = call.path
    if (removed.has(list)) return refusal(404, 'not_found', 'This path does not exist.')
    switch (list) {
      case 'status':
        return ok(fixtures.status([...destinations.values()]))
      case 'destinations':
        return destinationAnswer(call)
      case 'sources':
        return sources.answer(call)
      case 'ledger':
        return ok(fixtures.ledger(call.query.get('destination') ?? ''))
      case 'changes':
        return ok({ changes: fixtures.changes })
      case 'audiences':
        return ok({ audiences: fixtures.audiences })
      case 'messages':
        return id === fixtures.failedMessage || id === fixtures.oddMessage
          ? ok({ ...fixtures.timeline, id })
          : ok({ id, searchedSince: fixtures.timeline.searchedSince, records: [], destinations: [] })
      case 'dead-letters':
        return id === undefined ? ok(lettersOf(deadLetters, call.query)) : letterOf(deadLetters, id, call.role)
      default:
        return jobs(call) ?? notFound
    }
  }
  return {
    ...{ answer, destinations, deadLetters, sources: sources.sources },
    deliverTo: id => void delivered.add(id),
    remove: path => void removed.add(path),
  }
}

function pageOf(all: readonly ConfigObject[], query: URLSearchParams): object {
  const [q, state, after, source] = ['q', 'state', 'after', 'source'].map(name => query.get(name))
  const limit = Number(query.get('limit') ?? 100)
  const found = all.filter(
    each =>
      (!q || each.id.includes(q)) &&
      (!state || each.state === state) &&
      (!after || each.id > after) &&
      (!source || (each.document['sources'] as string[]).includes(source)),
  )
  const page = found.slice(0, limit).map(({ document, ...others }) => ({ ...others, document }))
  return { destinations: page, ...(found.length > limit ? { next: page.at(-1)?.id } : {}) }
}

function lettersOf(letters: readonly DeadLetterDetail[], query: URLSearchParams): object {
  const matches = (letter: DeadLetterDetail): boolean =>
    (query.get('destination') ?? letter.destination) === letter.destination &&
    (query.get('reason') ?? letter.reason) === letter.reason &&
    (query.get('message') ?? letter.messageId) === letter.messageId
  return { deadLetters: letters.filter(matches).map(({ headers: _, body: __, ...others }) => others) }
}

function letterOf(letters: readonly DeadLetterDetail[], key: string, role: Role | undefined): Answer {
  const letter = letters.find(each => each.key === key)
  if (letter === undefined) return refusal(404, 'not_found', 'No dead letter has this key.')
  const { headers, body, ...others } = letter
  return ok(role === 'operate' ? { ...others, headers, body, replay: fixtures.requestPreview } : others)
}

function problemsOf({ sources, webhooks, policy }: Call['body']): readonly object[] {
  const urls = (webhooks as { url?: string }[] | undefined) ?? []
  const timeout = (policy as { timeout?: string } | undefined)?.timeout
  return [
    ...(Array.isArray(sources) && sources.length > 0
      ? []
      : [{ path: 'sources', message: 'must have at least one entry', hint: 'add the id of a source' }]),
    ...urls.flatMap(({ url = '' }, index) =>
      url.startsWith('http')
        ? []
        : [{ path: `webhooks[${index}].url`, message: 'is not a URL', hint: 'begin with https://' }],
    ),
    ...(timeout === undefined || /^\d+(ms|s)$/.test(timeout)
      ? []
      : [{ path: 'policy.timeout', message: 'is not a duration', hint: 'write 3s' }]),
  ]
}

const testResult = {
  ...{ messageId: 'test-1', body: '{"type":"track","event":"Hookline Test"}', delivered: true },
  responses: [
    {
      ...{
        webhook: 'main',
        outcome: 'delivered',
        status: 200,
        tookMs: 84,
        responseBody: { text: '{"received":true}', truncated: false },
      },
      request: { url: 'https://hooks.example.com/***', headers: { 'Content-Type': 'application/json' } },
    },
  ],
}
