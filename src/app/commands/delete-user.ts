import type { Command } from 'commander'
import {
  type DeletionRequest,
  deletionOf,
  newDeletionId,
  parseDeletionRequest,
} from '../../core/deletion/deletion-request.ts'
import { type DeletionRecord, type DeletionStatus, DeletionTally } from '../../core/deletion/deletion-status.ts'
import { createRouting } from '../../core/delivery/route.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { topicNames } from '../../core/topics.ts'
import { createFindDeletion, type FindDeletion, mostRead } from '../../services/operator/find-deletion.ts'
import { writeDeletion } from '../../services/operator/write-deletion.ts'
import {
  CommandFailed,
  type CommandIo,
  createCommand,
  printData,
  UsageError,
  withConfigOption,
  withExamples,
  withJsonOption,
  withRemedy,
} from '../command.ts'
import { loadSettings } from '../load-settings.ts'
import { type OpenOperatorAccess, type OperatorAccess, openOperatorAccess } from '../operator-access.ts'
import { userIdsOf } from '../options.ts'
import { tableOf } from '../terminal.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
  readonly user?: readonly string[]
  readonly source?: readonly string[]
  readonly suppress?: boolean
  readonly id?: string
  readonly status?: string
}

const description = [
  'Deletes users: nothing received of them so far is delivered any more from 5 seconds later on, audiences forget them, and each destination of the affected sources gets one delete message for each user, with the usual retries.',
  'Without --source every source with an enabled destination is affected. With --suppress nothing is taken of the users from then on either, until `hookline unsuppress-user`.',
  'Needs no collector. Prints the id of the deletion, under which --status, and GET /v1/regulations/:id of the operator API, report how it goes. What was interrupted is done again with --id, and goes on where it ended.',
].join('\n\n')

const examples = [
  'hookline delete-user --user u-17',
  'hookline delete-user --user u-17 u-18 --source web --suppress',
  'hookline delete-user --status 4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11 --json | jq .status',
]

/** `hookline delete-user` */
export function deleteUserCommand(io: CommandIo, open: OpenOperatorAccess = openOperatorAccess): Command {
  const command = withConfigOption(createCommand('delete-user', 'delete users, and tell their destinations', io))
    .description(description)
    .option('--user <id...>', 'id of the user; several, or the option again, for several users')
    .option('--source <id...>', 'only what this source sends (all of them)')
    .option('--suppress', 'take nothing of them from now on')
    .option('--id <id>', 'id of the deletion: the one of a deletion that was interrupted goes on (a new one)')
    .option('--status <id>', 'change nothing, tell how this deletion goes; exit code 1 when it failed')
    .action((options: Options) => run(options, io, open))
  return withExamples(withJsonOption(command), examples)
}

async function run(options: Options, io: CommandIo, open: OpenOperatorAccess): Promise<void> {
  const { user, source, suppress, id, status } = options
  if (status !== undefined && [user, source, suppress, id].some(each => each !== undefined))
    throw new UsageError('--status stands alone: it changes nothing')
  if (status === undefined && user === undefined) throw new UsageError('whom? give --user <id>, or --status <id>')
  if (id !== undefined && !/^[\x21-\x7e]{1,100}$/.test(id))
    throw new UsageError('--id must have 1 to 100 characters, no spaces')
  const settings = await loadSettings(options, io)
  const request = status === undefined ? requestOf(options, settings) : undefined
  const access = open(settings, io)
  const find = createFindDeletion({ ...access, topic: topicNames(settings.topics.prefix).deletions })
  try {
    if (request !== undefined) await deleteUsers(request, find, access, settings, options, io)
    else await tellStatus(status as string, find, options, io)
  } catch (error) {
    throw withRemedy(error)
  } finally {
    await access.close()
  }
}

function requestOf({ user = [], source, suppress }: Options, settings: Settings): DeletionRequest {
  const input = { userIds: userIdsOf(user), sources: source, suppress }
  const parsed = parseDeletionRequest(input, createRouting(settings))
  if (parsed.kind === 'refused') throw new UsageError(parsed.message)
  return parsed.request
}

async function deleteUsers(
  request: DeletionRequest,
  find: FindDeletion,
  access: OperatorAccess,
  settings: Settings,
  options: Options,
  io: CommandIo,
): Promise<void> {
  const { producer, clock } = access
  const now = await access.brokersNow()
  const id = options.id ?? newDeletionId(now, clock.id())
  const earlier = options.id === undefined ? undefined : (await known(find, id))?.record
  if (earlier !== undefined && !isOf(earlier, request))
    throw new UsageError(`--id: the deletion ${id} was asked for with other users or options`)
  const record = earlier ?? deletionOf(request, id, now, createRouting(settings))
  const [events, inputs, marks] = await Promise.all([access.events(), access.inputs(), access.marks()])
  const topics = topicNames(settings.topics.prefix)
  const deps = { producer, topics, marks, encodeEvent: events.encode, encodeInput: inputs.encode }
  await writeDeletion(deps, request, record).catch(error => {
    const { message } = withRemedy(error) as Error
    throw new CommandFailed(`${message}; the same with --id ${id} goes on where this ended`, { cause: error })
  })
  const accepted = new DeletionTally(record).status()
  printData(io, options, accepted, [`deletion ${id}: ${counted(request.userIds.length)}`, ...deletionLines(accepted)])
}

const limit = `${mostRead.records} records, or ${mostRead.time / 1_000} s, of the deletions topic`

/** Undefined: there is none with this id. @throws CommandFailed when that cannot be said */
async function known(find: FindDeletion, id: string) {
  const found = await find(id)
  if (found.kind === 'not_reached') throw new CommandFailed(`${limit} were read, and none has the id ${id}`)
  return found.kind === 'found' ? found : undefined
}

/** As far as the record tells. */
const isOf = ({ users, isSuppressed, sources }: DeletionRecord, request: DeletionRequest): boolean =>
  users === request.userIds.length &&
  isSuppressed === request.suppress &&
  (request.sources ?? []).every(id => sources.some(source => source.id === id))

const counted = (users: number): string => (users === 1 ? '1 user' : `${users} users`)

async function tellStatus(id: string, find: FindDeletion, options: Options, io: CommandIo): Promise<void> {
  const found = await known(find, id)
  if (found === undefined) throw new CommandFailed(`there is no deletion ${id}`)
  const { status, record } = found
  printData(io, options, status, [
    `deletion ${id} of ${status.createdAt}: ${counted(record.users)}, ${status.status}`,
    ...deletionLines(status),
    ...(status.partial ? [`more may have ended: only ${limit} were read`] : []),
  ])
  if (status.status === 'failed')
    throw new CommandFailed(
      'some were not told; see: hookline dead-letters; put back by hookline replay they are told again',
    )
}

const titles = ['SOURCE', 'DESTINATION', 'STATUS', 'DELIVERED', 'UNDELIVERED', 'WAITING']

/** A row for each source and destination that is told. */
function deletionLines({ sources }: DeletionStatus): readonly string[] {
  const rows = sources.flatMap(source =>
    source.destinations.map(({ id, status, delivered, undelivered, waiting }) => [
      source.id,
      id,
      status,
      ...[delivered, undelivered, waiting].map(String),
    ]),
  )
  return rows.length === 0 ? ['nobody is told: no enabled destination gets these sources'] : tableOf(titles, rows)
}
