import type { Command } from 'commander'
import { countWithNoun } from '../../core/count-with-noun.ts'
import {
  type DeletionRecord,
  type DeletionStatus,
  DeletionTally,
} from '../../core/deletion/deletion-record-and-status.ts'
import {
  type DeletionRequest,
  deletionOf,
  maxUserSourcePairs,
  newDeletionId,
  parseDeletionRequest,
  unknownDestinationProblem,
} from '../../core/deletion/deletion-request.ts'
import { createRouting } from '../../core/delivery/route.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { EpochMs } from '../../core/time.ts'
import { topicNames } from '../../core/topics.ts'
import { writeDeletion } from '../../services/operator/carry-out-deletion.ts'
import { commandLimits, createFindDeletion, findDeletionRecord } from '../../services/operator/find-deletion.ts'
import {
  CommandFailed,
  type CommandIo,
  ConfigurationRefused,
  createCommand,
  printData,
  UsageError,
  withExamples,
  withRemedy,
} from '../create-command.ts'
import { type CommandClients, type OpenCommandClients, openCommandClients } from '../kafka-clients-of-commands.ts'
import { loadSettings } from '../load-settings.ts'
import { loadMergedSettings } from '../merged-settings-of-command.ts'
import { userIdsOf, withConfigOption, withJsonOption } from '../options.ts'
import { tableOf } from '../terminal-table-and-progress-bar.ts'

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
  'Deletes users in the sources that --source names (default: in every source). Within 5 seconds, Hookline stops delivering earlier events of these users. Hookline also removes the users from all audiences, even if --source names only some sources.',
  'For each user and each of the selected sources, Hookline sends one delete message to every enabled destination of the source, with the usual retries.',
  'With --suppress, Hookline also drops new events of the users, until you run `hookline unsuppress-user`.',
  'The command writes directly to Kafka and needs no collector. It prints the id of the deletion. To see the progress of the deletion, run the command with --status and this id.',
  'If the command fails before it has written everything, repeat it with the same options, and add --id with the printed id.',
].join('\n\n')

const examples = [
  'hookline delete-user --user u-17',
  'hookline delete-user --user u-17 u-18 --source web --suppress',
  'hookline delete-user --status 01a1fd7c-3123-7c3e-9d4e-7a1f0b6c2d11 --json | jq .status',
]

/** `hookline delete-user` */
export function deleteUserCommand(io: CommandIo, open: OpenCommandClients = openCommandClients): Command {
  const command = withConfigOption(
    createCommand(
      'delete-user',
      'delete users: stop delivering their earlier events, and send delete messages to destinations',
      io,
    ),
  )
    .description(description)
    .option('--user <id...>', 'one or more user ids, separated by spaces; the option can be repeated')
    .option(
      '--source <id...>',
      `delete the users only in this source and at its destinations (default: in every source); can be repeated; the number of users times the number of sources must be at most ${maxUserSourcePairs}`,
    )
    .option('--suppress', 'also drop new events of these users, until you run `hookline unsuppress-user`')
    .option(
      '--id <id>',
      'id of the deletion; to continue a deletion whose command failed, use the id that the command printed (default: a new id)',
    )
    .option(
      '--status <id>',
      'show the progress of this deletion and change nothing; exit code 1 if the deletion has ended and some delete messages were not delivered',
    )
    .action((options: Options) => run(options, io, open))
  return withExamples(withJsonOption(command), examples)
}

async function run(options: Options, io: CommandIo, open: OpenCommandClients): Promise<void> {
  const { user, source, suppress, id, status } = options
  if (status !== undefined && [user, source, suppress, id].some(each => each !== undefined))
    throw new UsageError('--status cannot be combined with --user, --source, --suppress or --id')
  if (status === undefined && user === undefined)
    throw new UsageError('missing option: use --user <user id>, or --status <deletion id>')
  if (id !== undefined && !/^[\x21-\x7e]{1,100}$/.test(id))
    throw new UsageError('--id must have 1 to 100 printable ASCII characters without spaces')
  const settings = await (status === undefined ? loadMergedSettings : loadSettings)(options, io)
  const request = status === undefined ? requestOf(options, settings) : undefined
  const access = open(settings, io)
  try {
    if (request !== undefined) await deleteUsers(request, access, settings, options, io)
    else await printStatus(status as string, access, settings, options, io)
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
  access: CommandClients,
  settings: Settings,
  options: Options,
  io: CommandIo,
): Promise<void> {
  const { producer, reader, clock, brokerTime: brokersNow } = access
  const topics = topicNames(settings.topics.prefix)
  const search = { reader, topic: topics.deletions }
  const earlier = options.id === undefined ? undefined : await findDeletionRecord(search, options.id)
  // Get the time after the search, so that messages that arrive during the search are deleted too.
  const now = await brokersNow()
  const id = options.id ?? newDeletionId(now, clock.id())
  if (earlier !== undefined && !matchesRequest(earlier, request))
    throw new UsageError(
      `--id: the deletion ${id} was started with other users or options; use the users and options of that deletion, or omit --id to start a new one`,
    )
  const record = earlier ?? newRecord(request, id, now, settings)
  const [events, inputs, suppressions] = await Promise.all([access.events(), access.inputs(), access.suppressions()])
  const encodings = { encodeEvent: events.encode, encodeInput: inputs.encode }
  const deps = { producer, topics, suppressions, brokersNow, ...encodings }
  await writeDeletion(deps, request, record).catch(error => {
    const { message } = withRemedy(error) as Error
    throw new CommandFailed(`${message}; to continue, repeat the command with --id ${id}`, { cause: error })
  })
  const accepted = new DeletionTally(record).status()
  printData(io, options, accepted, [
    `deletion ${id} accepted: ${countWithNoun(request.userIds.length, 'user')}; see its progress with: hookline delete-user --status ${id}`,
    ...deletionLines(accepted),
  ])
}

/**
 * Creates the record of a new deletion.
 * @throws ConfigurationRefused if Hookline cannot read the id or the sources of a destination
 */
function newRecord(request: DeletionRequest, id: string, now: EpochMs, settings: Settings): DeletionRecord {
  const routing = createRouting(settings)
  const unknown = unknownDestinationProblem(routing)
  if (unknown !== undefined) throw new ConfigurationRefused([`hookline: ${unknown}`])
  return deletionOf(request, id, now, routing)
}

const limits = `${commandLimits.time / 1_000} s or ${commandLimits.records} records`

/**
 * Whether a request with `--id` can be a repetition of the recorded deletion. The record has only
 * the number of users, not their ids.
 */
const matchesRequest = ({ users, isSuppressed, sources }: DeletionRecord, request: DeletionRequest): boolean =>
  users === request.userIds.length &&
  isSuppressed === request.suppress &&
  (request.sources ?? []).every(id => sources.some(source => source.id === id))

async function printStatus(
  id: string,
  access: CommandClients,
  settings: Settings,
  options: Options,
  io: CommandIo,
): Promise<void> {
  const topic = topicNames(settings.topics.prefix).deletions
  const found = await createFindDeletion({ ...access, topic, limits: commandLimits })(id)
  if (found.kind === 'not_reached')
    throw new CommandFailed(
      `deletion ${id} was not found before the search reached its limit (${limits}), but it may exist; check the id, then run the command again`,
    )
  if (found.kind === 'none') throw new CommandFailed(`there is no deletion with the id ${id}: check the id`)
  const { status, record } = found
  printData(io, options, status, [
    `deletion ${id} of ${countWithNoun(record.users, 'user')}, accepted at ${status.createdAt}: ${status.status}`,
    ...deletionLines(status),
    ...(status.partial
      ? [
          `the search for results reached its limit (${limits}), so Hookline may have delivered more delete messages than shown`,
        ]
      : []),
  ])
  if (status.status === 'failed')
    throw new CommandFailed(
      'some delete messages were not delivered; the column UNDELIVERED above counts them by destination; list their dead letters with: hookline dead-letters --destination <id>; replay them with: hookline replay --destination <id>',
    )
}

const titles = ['SOURCE', 'DESTINATION', 'STATUS', 'DELIVERED', 'UNDELIVERED', 'WAITING']

/** A table with a row for each source and destination. */
function deletionLines({ sources }: DeletionStatus): readonly string[] {
  const rows = sources.flatMap(source =>
    source.destinations.map(({ id, status, delivered, undelivered, waiting }) => [
      source.id,
      id,
      status,
      ...[delivered, undelivered, waiting].map(String),
    ]),
  )
  return rows.length === 0
    ? ['Hookline sends no delete messages, because no affected source has an enabled destination']
    : tableOf(titles, rows)
}
