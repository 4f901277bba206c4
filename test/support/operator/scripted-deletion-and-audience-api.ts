import { syncId } from '../../../src/core/audience/sync-id.ts'
import { type Refusal, refusal } from '../../../src/core/message/request-refusal.ts'
import {
  type DeletionAndAudienceApi,
  type DeletionAnswer,
  type DeletionFound,
  type SyncAnswer,
  type SyncRequest,
  UploadCutShort,
} from '../../../src/core/operator/deletion-and-audience-api.ts'
import { createFindOperatorKey } from '../../../src/core/operator/operator-keys.ts'
import { createOperatorSessions } from '../../../src/core/operator/signed-session-tokens.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { TraceContext } from '../../../src/core/trace/context.ts'
import { Conditions } from '../awaited-conditions.ts'
import { testSecret } from '../secret-scan/make-and-find-test-secrets.ts'

export const operatorKey = testSecret('operator-key')
export const readKey = testSecret('read-key')

const keys = [
  { name: 'ada', role: 'operate', secrets: [new Secret(operatorKey)] },
  { name: 'dashboard', role: 'read', secrets: [new Secret(readKey)] },
] as const
export const findOperatorKey = createFindOperatorKey(keys)
export const operatorSessions = createOperatorSessions(keys)

const accepted: DeletionAnswer = { kind: 'accepted', id: 'd-1', status: 'running', users: 1 }
const found: DeletionFound = {
  kind: 'found',
  status: { id: 'd-1', status: 'finished', createdAt: '2026-03-01T00:00:00.000Z', sources: [] },
}
const notFound = refusal('not_found', 'There is no deletion with this id: check the id.')

/** An operator API behind the real routes, with scripted responses. */
export class ScriptedOperatorApi implements DeletionAndAudienceApi {
  /** Calls in order, for example `delete {…}`, `find d-1`, `sync Shoppers full`. */
  readonly asked: string[] = []
  readonly lines: string[] = []
  /** The trace contexts of deletions and syncs. */
  readonly traces: (TraceContext | undefined)[] = []
  cutShort: string | undefined
  readonly #changes = new Conditions()
  #reading = Promise.resolve()
  /** The line at which a sync is rejected. */
  wrongLine = 'wrong'

  /** Pauses the reading of a sync's lines until the returned function is called. */
  holdBack(): () => void {
    const held = Promise.withResolvers<void>()
    this.#reading = held.promise
    return held.resolve
  }

  forget(): void {
    this.asked.length = 0
    this.lines.length = 0
    this.traces.length = 0
    this.cutShort = undefined
    this.#reading = Promise.resolve()
  }

  until(condition: () => boolean): Promise<void> {
    return this.#changes.until(condition)
  }

  async deleteUsers(input: unknown, trace?: TraceContext): Promise<DeletionAnswer> {
    this.traces.push(trace)
    this.asked.push(`delete ${JSON.stringify(input)}`)
    return accepted
  }

  async findDeletion(id: string): Promise<DeletionFound> {
    this.asked.push(`find ${id}`)
    return id === 'd-1' ? found : notFound
  }

  refuseAudience(name: string): Refusal | undefined {
    return ['Shoppers', 'First time shopper', 'a/b'].includes(name)
      ? undefined
      : refusal('unknown_audience', 'No audience has this name.')
  }

  async sync({ audience, mode, allowEmpty, lines, trace }: SyncRequest): Promise<SyncAnswer> {
    this.traces.push(trace)
    this.asked.push(`sync ${audience} ${mode}${allowEmpty ? ' allowEmpty' : ''}`)
    this.#changes.changed()
    try {
      await this.#reading
      for await (const some of lines) {
        await this.#reading
        this.lines.push(...some.map(line => line ?? 'not UTF-8'))
        this.#changes.changed()
        if (some.includes(this.wrongLine)) return refusal('invalid_body', 'Line 1: it is wrong.')
      }
    } catch (error) {
      if (!(error instanceof UploadCutShort)) throw error
      this.cutShort = error.message
      this.#changes.changed()
      return { kind: 'cut_short' }
    }
    return { kind: 'synced', syncId: syncId(7), received: this.lines.filter(Boolean).length }
  }
}
