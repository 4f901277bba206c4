import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { SinkRequest } from '../../../src/adapters/http/sink-server.ts'
import { audienceName, audienceProperty, shop, shopperName } from './demo-scenario.ts'
import { hookline, type RunningService } from './service-process.ts'

interface Deps {
  /** The configuration file, and a folder for lists of members. */
  readonly config: string
  readonly directory: string
  readonly service: RunningService
  readonly requestsTo: (destination: string) => readonly SinkRequest[]
  /** Lets `self-signed` have an endpoint whose certificate is trusted, by the configuration file. */
  readonly mend: () => Promise<void>
  readonly say: (what: string, detail: string) => void
}

const shoppers = 40
/** Who leaves and who comes with the second list. */
const changed = 2
const deletedUser = shopperName(changed)
const replayedId = 'web-track-000'
const patienceMs = 30_000

const list = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, index) => shopperName(from + index))

/**
 * What comes after the messages: an audience that is created and changed, a user who is deleted, a dead letter that is put back. Resolves with what
 * went wrong.
 */
export async function playSequel(deps: Deps): Promise<readonly string[]> {
  const wrong: string[] = []
  function check(what: string, detail: string, got: string, expected: string): void {
    deps.say(what, `${detail} ${got}`)
    if (got !== expected) wrong.push(`${what}: ${detail} ${got || 'nothing'}, it should be ${expected}`)
  }

  const created = await sync(deps, list(0, shoppers))
  check('audience', `the first list has ${shoppers} users; crm is told`, created, `${shoppers} in, 0 out`)
  const second = await sync(deps, list(changed, shoppers + changed))
  check('audience', `${changed} users leave, ${changed} come; crm is told`, second, `${changed} in, ${changed} out`)

  check('deletion', 'one user is deleted and suppressed; told are', await deleteUser(deps), 'crm, warehouse')
  const third = await sync(deps, list(changed, shoppers + changed))
  check('deletion', 'the next list has the user again; crm is told', third, '0 in, 0 out')

  await deps.mend()
  await hookline(deps.config, ['replay', '--destination', 'self-signed', '--message-id', replayedId])
  const arrived = await until(() => deps.requestsTo('self-signed').map(({ messageId }) => messageId ?? ''))
  check(
    'replay',
    'the certificate is mended and one dead letter put back; self-signed gets',
    arrived.join(),
    replayedId,
  )
  return wrong
}

/** Writes a full list and waits until all of it is delivered; how many were told that they are in, and out. */
async function sync({ config, directory, requestsTo }: Deps, members: readonly string[]): Promise<string> {
  const file = join(directory, 'shoppers.txt')
  await writeFile(file, members.join('\n'))
  const before = requestsTo('crm').length
  await hookline(config, ['audience', 'sync', '--name', audienceName, '--members', file, '--wait'])
  const told = requestsTo('crm')
    .slice(before)
    .map(({ body }) => (JSON.parse(body) as { traits?: Record<string, unknown> }).traits?.[audienceProperty])
  return `${told.filter(value => value === true).length} in, ${told.filter(value => value === false).length} out`
}

interface Status {
  readonly id: string
  readonly status: string
  readonly sources: readonly { readonly destinations: readonly { readonly id: string; readonly delivered: number }[] }[]
}

/** Waits until every destination of the source has been told; which they are. */
async function deleteUser({ config }: Deps): Promise<string> {
  const asked = ['delete-user', '--user', deletedUser, '--source', shop.id, '--suppress', '--json']
  const { id } = JSON.parse(await hookline(config, asked)) as Status
  const finished = await until(async () => {
    const known = JSON.parse(await hookline(config, ['delete-user', '--status', id, '--json'])) as Status
    return known.status === 'running' ? [] : [known]
  })
  const told = finished.flatMap(({ sources }) => sources.flatMap(({ destinations }) => destinations))
  return told.flatMap(({ id: name, delivered }) => (delivered === 1 ? [name] : [])).join(', ')
}

/** Asks until there is something, or patience is over. */
async function until<T>(ask: () => readonly T[] | Promise<readonly T[]>): Promise<readonly T[]> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const found = await ask()
    if (found.length > 0 || performance.now() > giveUpAt) return found
    await setTimeout(250)
  }
}
