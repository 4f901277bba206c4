import type { Command } from 'commander'
import { toEveryPartition } from '../../../services/operator/write-sync.ts'
import {
  type CommandIo,
  createCommand,
  printData,
  withConfigOption,
  withExamples,
  withJsonOption,
} from '../../command.ts'
import { type OpenOperatorAccess, openOperatorAccess } from '../../operator-access.ts'
import { choice } from '../../options.ts'
import { driftOf, listAudiences, showAudience } from './inspect.ts'
import { syncAudience } from './sync.ts'
import {
  type AudienceOptions,
  type AudienceTask,
  type AudienceWork,
  audienceNamed,
  audienceTask,
  inputsOf,
} from './task.ts'

const nameOption = ['--name <name>', 'of the audience or computed trait, as in audiences.list'] as const

const syncDescription = [
  'Tells Hookline who is in an audience (or who has which value of a computed trait). A list without --partial is all of them: who is not in it is out. With --partial a list only adds, and takes out by the value false (a trait: null).',
  'Each destination is then told what changed for it since it last acknowledged, and only that. A line of the list is a user id; or JSON, {"userId", "value"} or a text or number that is the id; or all of it is CSV, when the first line names a field userId. Gzip is unpacked. However long it is, memory stays small.',
  'A list that is cut short or has a wrong line takes nobody out. A pipe does not tell that its writer has failed, so that what came of a full list by then would be all of it: write a file first. With --wait it ends when everything is delivered, with exit code 1 when something was not; that may take as long as the retries do.',
].join('\n\n')

/** `hookline audience sync|list|show|drift|reset` */
export function audienceCommand(io: CommandIo, open: OpenOperatorAccess = openOperatorAccess): Command {
  const doing =
    <Options extends AudienceOptions>(work: AudienceWork<Options>) =>
    (options: Options): Promise<void> =>
      audienceTask(options, io, open, work)
  const subcommand = (name: string, summary: string): Command => withConfigOption(createCommand(name, summary, io))

  const sync = subcommand('sync', 'tell who is in an audience')
    .description(syncDescription)
    .requiredOption(...nameOption)
    .requiredOption('--members <file>', 'the list; - for stdin')
    .option('--partial', 'the list only adds and takes out')
    .option('--allow-empty', 'a list of nobody takes everybody out (refused)')
    .option('--wait', 'end when everything is delivered')
    .action(doing(syncAudience))
  const list = subcommand('list', 'list the audiences, and how each destination stands').action(doing(listAudiences))
  const show = subcommand('show', 'show one audience, or one user in it')
    .requiredOption(...nameOption)
    .option('--user <id>', 'what is known of this user at each destination')
    .action(doing(showAudience))
  const drift = subcommand('drift', 'tell where destinations do not have what they should')
    .description(
      'Counts, for each destination, the users for whom it has not acknowledged the current value: a change is under way (in flight), nobody knows what it has (unknown: the next sync tells it again), or it has another value (different: it is or was not on the list of the audience, or switched off). With --json each is a line. Exit code 1 when there is anything but what is in flight.',
    )
    .requiredOption(...nameOption)
    .action(doing(driftOf))
  const reset = subcommand('reset', 'forget what destinations have: the next sync tells everything')
    .description(
      'For a destination that lost what it had. Sends nothing itself: the next sync then tells it every user that the sync names, and every user that it takes out.',
    )
    .requiredOption(...nameOption)
    .option('--destination <id>', 'only this one (all of the audience)')
    .action(doing(resetAudience))

  const command = createCommand('audience', 'sync audiences and computed traits, and see how they stand', io)
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
    `the next sync of ${audience.name} tells everything to ${reset.join(', ') || 'nobody: no enabled destination gets it'}`,
  ])
}
