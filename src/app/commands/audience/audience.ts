import type { Command } from 'commander'
import { toEveryPartition } from '../../../services/operator/write-sync.ts'
import { type OpenAdminClients, openAdminClients } from '../../admin-clients.ts'
import {
  type CommandIo,
  createCommand,
  printData,
  withConfigOption,
  withExamples,
  withJsonOption,
} from '../../command.ts'
import { choice } from '../../options.ts'
import { listAudiences, showAudience, showDrift } from './list-show-drift.ts'
import { syncAudience } from './sync.ts'
import {
  type AudienceOptions,
  type AudienceTask,
  type AudienceWork,
  audienceNamed,
  audienceTask,
  inputsOf,
} from './task.ts'

const nameOption = ['--name <name>', 'name of the audience or computed trait, as in audiences.list'] as const

const syncDescription = [
  'Uploads the members of an audience, or the users and values of a computed trait. Without --partial the list is complete: users who are not in it are removed. With --partial the list only changes the users in it; the value false (trait: null) removes a user.',
  'Each destination then gets only the changes since its last acknowledged state. Each line of the list is a user id, a JSON object {"userId", "value"}, or a JSON string or number with the id. The list is CSV if its first line has a column userId. Gzip is detected. Memory use does not depend on the length of the list.',
  'An interrupted or invalid list removes no users. If a program pipes the list to stdin and fails, Hookline cannot detect that the list is incomplete; write the list to a file first. With --wait the command waits until all changes are delivered or failed, which may take as long as the retries; its exit code is 1 if a change was not delivered.',
].join('\n\n')

/** `hookline audience sync|list|show|drift|reset` */
export function audienceCommand(io: CommandIo, open: OpenAdminClients = openAdminClients): Command {
  const doing =
    <Options extends AudienceOptions>(work: AudienceWork<Options>) =>
    (options: Options): Promise<void> =>
      audienceTask(options, io, open, work)
  const subcommand = (name: string, summary: string): Command => withConfigOption(createCommand(name, summary, io))

  const sync = subcommand('sync', 'upload the members of an audience')
    .description(syncDescription)
    .requiredOption(...nameOption)
    .requiredOption('--members <file>', 'file with the list of members; - means stdin')
    .option('--partial', 'change only the users in the list; remove no others')
    .option('--allow-empty', 'accept an empty list, which removes all members (default: reject it)')
    .option('--wait', 'wait until all changes are delivered or failed')
    .action(doing(syncAudience))
  const list = subcommand('list', 'list the audiences with the sync status of each destination').action(
    doing(listAudiences),
  )
  const show = subcommand('show', 'show the sync status of one audience, or of one user in it')
    .requiredOption(...nameOption)
    .option('--user <id>', 'show the membership of this user at each destination')
    .action(doing(showAudience))
  const drift = subcommand('drift', 'find members whose current value a destination has not acknowledged')
    .description(
      'Counts, for each destination, the users whose current value it has not acknowledged. In flight: a change is being delivered, which is normal. Unknown: a delivery failed, so the value at the destination is unknown; the next sync sends it again. Different: the destination has another value, because it is disabled, or is not (or was not) connected to the audience; connect and enable it, then sync again. With --json each user is one JSON line. Exit code 1 if any status is unknown or different.',
    )
    .requiredOption(...nameOption)
    .action(doing(showDrift))
  const reset = subcommand('reset', 'make the next sync send all members, not only changes')
    .description(
      'Use this when a destination has lost its data. The command itself sends nothing. The next sync sends every user in its list, and every user that the sync removes, to the destination.',
    )
    .requiredOption(...nameOption)
    .option('--destination <id>', 'only this destination (default: all destinations of the audience)')
    .action(doing(resetAudience))

  const command = createCommand('audience', 'sync audiences and computed traits, and show their status', io)
  for (const each of [sync, list, show, drift, reset])
    command.addCommand(withExamples(withJsonOption(each), examples[each.name() as keyof typeof examples]))
  return withExamples(command, [
    "hookline audience sync --name 'First time shopper' --members shoppers.txt",
    'hookline audience list',
  ])
}

const examples = {
  sync: [
    "hookline audience sync --name 'First time shopper' --members shoppers.txt --wait",
    `psql -Atc 'select id from shoppers' -o shoppers.txt && hookline audience sync --name 'First time shopper' --members shoppers.txt`,
    "hookline audience sync --name 'Lifetime value' --members changed.csv --partial",
  ],
  list: ['hookline audience list', "hookline audience list --json | jq '.audiences[].name'"],
  show: [
    "hookline audience show --name 'First time shopper'",
    "hookline audience show --name 'First time shopper' --user u-17",
  ],
  drift: [
    "hookline audience drift --name 'First time shopper'",
    `hookline audience drift --name 'First time shopper' --json | jq -r 'select(.standing == "unknown") | .userId'`,
  ],
  reset: ["hookline audience reset --name 'First time shopper' --destination crm"],
}

interface Options extends AudienceOptions {
  readonly name: string
  readonly destination?: string
}

/** `hookline audience reset` */
async function resetAudience(task: AudienceTask, options: Options): Promise<void> {
  const { io } = task
  const audience = audienceNamed(task, options.name)
  const destination = options.destination && choice('--destination', options.destination, [...audience.destinations])
  await toEveryPartition(await inputsOf(task), { kind: 'reset', audience: audience.name, destination })
  const reset = destination === undefined ? [...audience.destinations] : [destination]
  printData(io, options, { audience: audience.name, destinations: reset }, [
    reset.length === 0
      ? `nothing to reset: ${audience.name} has no enabled destination`
      : `the next sync of ${audience.name} sends all members to ${reset.join(', ')}`,
  ])
}
