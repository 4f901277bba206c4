import { join } from 'node:path'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import type { ObjectDocument, ObjectKind } from '../../../src/core/config-objects/config-objects.ts'
import type { ReadLedger } from '../../../src/core/operator/ledger-query-and-view.ts'
import type { MessageAndDeadLetterApi } from '../../../src/core/operator/message-and-dead-letter-api.ts'
import type { Clock } from '../../../src/core/ports.ts'
import type { WebhookTransport } from '../../../src/core/webhook-ports.ts'
import type { StatusView } from '../../../src/services/live-status/status-view.ts'
import { configFolder } from '../config/config-folder.ts'
import { runCommand } from '../process/in-process-command.ts'
import { memoryObjects } from './memory-objects.ts'
import { objectsApi } from './memory-objects-api.ts'
import { operatorKey, ScriptedOperatorApi } from './scripted-deletion-and-audience-api.ts'
import { startOperator } from './server.ts'

/** The real time, without time limits. On a slow machine, these would make a status partial. */
const unlimited: Clock = { ...processClock, monotonic: () => 0, after: () => () => undefined }

interface Options {
  readonly transport?: WebhookTransport
  readonly live?: StatusView
  readonly log?: MessageAndDeadLetterApi
  readonly readLedger?: ReadLedger
}

/**
 * Runs commands in this process. They send requests to a real listener of the operator API, with
 * objects in memory.
 */
export async function objectsCommand({ transport, live, ...options }: Options = {}) {
  const memory = await memoryObjects(processClock)
  const objects = await objectsApi({ memory, clock: unlimited, ...(transport && { transport }), ...(live && { live }) })
  const server = await startOperator(new ScriptedOperatorApi(), { objects, ...options })
  const folder = await configFolder({ 'operator.key': `${operatorKey}\n` })
  const env = { HOOKLINE_OPERATOR_URL: server.url, HOOKLINE_OPERATOR_KEY_FILE: join(folder, 'operator.key') }
  return {
    url: server.url,
    close: () => server.stop(),
    audited: server.audited,
    objects: memory.objects,
    run: (argv: readonly string[], given: Parameters<typeof runCommand>[1] = {}) =>
      runCommand(argv, { ...given, env: { ...env, ...given.env } }),
    /** Writes an object directly, as another operator process does. */
    async put(kind: ObjectKind, document: ObjectDocument): Promise<void> {
      const id = String(document['id'])
      const outcome = await memory.objects.change({
        kind,
        id,
        by: 'bob',
        expected: { kind: 'any' },
        next: () => document,
      })
      if (outcome.kind !== 'changed') throw new Error(JSON.stringify(outcome))
    },
    /** The documents with origin `api`, by id. Their secrets are masked. */
    documents: (kind: ObjectKind): Readonly<Record<string, ObjectDocument>> =>
      Object.fromEntries(
        memory.objects.list(kind).flatMap(({ id, origin, document }) => (origin === 'api' ? [[id, document]] : [])),
      ),
  }
}
