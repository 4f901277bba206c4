import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { SinkRequest } from '../../../src/adapters/http/sink-server.ts'
import { audienceName, audienceProperty, shop, shopperName } from './demo-configuration.ts'
import { hookline, type RunningService } from './hookline-process.ts'

interface Deps {
  /** The path of the configuration file. */
  readonly config: string
  /** A directory for lists of members. */
  readonly directory: string
  readonly service: RunningService
  readonly requestsTo: (destination: string) => readonly SinkRequest[]
  /** Gives the destination `self-signed` a working endpoint. */
  readonly repair: () => Promise<void>
  readonly say: (what: string, detail: string) => void
}

const shoppers = 40
/** The second list of the audience removes this number of members, and adds as many new ones. */
const changed = 2
const deletedUser = shopperName(changed)
const replayedId = 'web-track-000'
const timeoutMs = 30_000

const list = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, index) => shopperName(from + index))

/** The second part of the demo. Resolves with one line for each unexpected result. */
export async function playSequel(deps: Deps): Promise<readonly string[]> {
  const wrong: string[] = []
  function check(what: string, detail: string, got: string, expected: string): void {
    deps.say(what, `${detail} ${got}`)
    if (got !== expected) wrong.push(`${what}: ${detail} ${got || 'nothing'}, expected ${expected}`)
  }

  const created = await sync(deps, list(0, shoppers))
  check('audience', `the first list has ${shoppers} users; crm gets`, created, `${shoppers} joins, 0 leaves`)
  const second = await sync(deps, list(changed, shoppers + changed))
  check('audience', `${changed} users leave, ${changed} join; crm gets`, second, `${changed} joins, ${changed} leaves`)

  check(
    'deletion',
    'one user is deleted and suppressed; delete messages go to',
    await deleteUser(deps),
    'crm, warehouse',
  )
  const third = await sync(deps, list(changed, shoppers + changed))
  check('deletion', 'the next list has the suppressed user again; crm gets', third, '0 joins, 0 leaves')

  await deps.repair()
  await hookline(deps.config, ['replay', '--destination', 'self-signed', '--message-id', replayedId])
  const arrived = await until(() => deps.requestsTo('self-signed').map(({ messageId }) => messageId ?? ''))
  check(
    'replay',
    'the destination "self-signed" gets the URL of a working endpoint; the replay of one dead letter delivers message',
    arrived.join(),
    replayedId,
  )
  return wrong
}

/** Syncs a full list and waits for its delivery. Resolves with the counts: `2 joins, 2 leaves` */
async function sync({ config, directory, requestsTo }: Deps, members: readonly string[]): Promise<string> {
  const file = join(directory, 'shoppers.txt')
  await writeFile(file, members.join('\n'))
  const before = requestsTo('crm').length
  await hookline(config, ['audience', 'sync', '--name', audienceName, '--members', file, '--wait'])
  const changes = requestsTo('crm')
    .slice(before)
    .map(({ body }) => (JSON.parse(body) as { traits?: Record<string, unknown> }).traits?.[audienceProperty])
  const count = (isMember: boolean): number => changes.filter(value => value === isMember).length
  return `${count(true)} joins, ${count(false)} leaves`
}

interface Status {
  readonly id: string
  readonly status: string
  readonly sources: readonly { readonly destinations: readonly { readonly id: string; readonly delivered: number }[] }[]
}

/** Deletes a user. Resolves with the destinations that got the delete message. */
async function deleteUser({ config }: Deps): Promise<string> {
  const words = ['delete-user', '--user', deletedUser, '--source', shop.id, '--suppress', '--json']
  const { id } = JSON.parse(await hookline(config, words)) as Status
  const finished = await until(async () => {
    const known = JSON.parse(await hookline(config, ['delete-user', '--status', id, '--json'])) as Status
    return known.status === 'running' ? [] : [known]
  })
  const reached = finished.flatMap(({ sources }) => sources.flatMap(({ destinations }) => destinations))
  return reached.flatMap(({ id: name, delivered }) => (delivered === 1 ? [name] : [])).join(', ')
}

/** Calls `ask` until it returns at least one item. After 30 s, resolves with an empty list. */
async function until<T>(ask: () => readonly T[] | Promise<readonly T[]>): Promise<readonly T[]> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const found = await ask()
    if (found.length > 0 || performance.now() > deadline) return found
    await setTimeout(250)
  }
}
