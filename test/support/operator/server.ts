import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createOperatorServer } from '../../../src/adapters/http/operator-server.ts'
import type { HttpLimits } from '../../../src/adapters/http/server-limits.ts'
import { createMetrics } from '../../../src/adapters/metrics/metrics.ts'
import type { TrackingApi } from '../../../src/core/collector/tracking-api.ts'
import type { JobsApi } from '../../../src/core/jobs/jobs-api.ts'
import { loggable } from '../../../src/core/logging/redact-log-fields.ts'
import { toIsoTimestamp } from '../../../src/core/message/timestamp.ts'
import type { ListAudiences } from '../../../src/core/operator/audience-view.ts'
import type { DeletionAndAudienceApi } from '../../../src/core/operator/deletion-and-audience-api.ts'
import type { ReadLedger } from '../../../src/core/operator/ledger-query-and-view.ts'
import type { MessageAndDeadLetterApi } from '../../../src/core/operator/message-and-dead-letter-api.ts'
import { objectRefusal } from '../../../src/core/operator/object-refusal.ts'
import type { ObjectsApi } from '../../../src/core/operator/objects-api.ts'
import type { FindOperatorKey } from '../../../src/core/operator/operator-keys.ts'
import type { OperatorSessions } from '../../../src/core/operator/signed-session-tokens.ts'
import type { Clock, Logger } from '../../../src/core/ports.ts'
import type { PublishedKeys } from '../../../src/core/signing/ed25519-signing-key.ts'
import type { Tracer } from '../../../src/core/trace/tracer.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { memoryJobs } from './memory-jobs.ts'
import { objectsApi } from './memory-objects-api.ts'
import { findOperatorKey, operatorSessions } from './scripted-deletion-and-audience-api.ts'

interface Options {
  readonly objects?: ObjectsApi
  readonly log?: MessageAndDeadLetterApi
  readonly jobs?: JobsApi
  readonly findKey?: () => FindOperatorKey
  readonly sessions?: () => OperatorSessions
  readonly publishedKeys?: PublishedKeys
  readonly consoleDirectory?: string
  readonly readLedger?: ReadLedger
  readonly listAudiences?: ListAudiences
  readonly limits?: Partial<HttpLimits>
  readonly maxBodyBytes?: number
  readonly memory?: Pick<TrackingApi, 'reserve' | 'release'>
  readonly clientAddressHeader?: string
  readonly clock?: Clock
  readonly logger?: Logger
  readonly tracer?: Tracer | undefined
}

const emptyLog: MessageAndDeadLetterApi = {
  message: async ({ id, since }) => ({
    kind: 'answered',
    body: { id, searchedSince: toIsoTimestamp(since), records: [], destinations: [] },
  }),
  deadLetters: async () => ({ kind: 'answered', body: { deadLetters: [] } }),
  deadLetter: async () => objectRefusal('not_found', 'No dead letter has this key.'),
}

/** Starts the server of the operator API on a free port. `api` handles deletions and audiences. */
export async function startOperator(api: DeletionAndAudienceApi, options: Options = {}) {
  const { metrics, text } = createMetrics()
  const audited: object[] = []
  const server = createOperatorServer({
    listen: { host: '127.0.0.1', port: 0 },
    objects: options.objects ?? (await objectsApi()),
    log: emptyLog,
    jobs: options.jobs ?? (await memoryJobs(options.clock ?? processClock)).api,
    ...{ api, metrics, clock: processClock, logger: silent, findKey: () => findOperatorKey },
    publishedKeys: async () => ({ keys: [] }),
    consoleDirectory: undefined,
    sessions: () => operatorSessions,
    listAudiences: async () => ({ audiences: [] }),
    readLedger: async () => Promise.reject(new Error('no ledger')),
    // Masks each field outside the allow-list, as in a log line of Hookline.
    audit: line => void audited.push(loggable({ ...line })),
    ...options,
  })
  const url = await server.start()
  return {
    url,
    stop: server.stop,
    audited,
    async answered(): Promise<Readonly<Record<string, number>>> {
      const lines = (await text()).matchAll(/^hookline_operator_answers_total\{code="(\w+)"\} (\d+)$/gm)
      return Object.fromEntries([...lines].map(([, code = '', count]) => [code, Number(count)]))
    },
  }
}
