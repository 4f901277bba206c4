import type { Command } from 'commander'
import { type CommandIo, createCommand, withExamples } from '../../create-command.ts'
import { type OpenCommandClients, openCommandClients } from '../../kafka-clients-of-commands.ts'
import { withConfigOption, withJsonOption } from '../../options.ts'
import { listAudiences, showAudience, showDrift } from './list-show-drift.ts'
import { resetAudience } from './reset.ts'
import { type AudienceOptions, type AudienceWork, audienceTask } from './subcommand-context.ts'
import { syncAudience } from './sync.ts'

const nameOption = [
  '--name <name>',
  'name of the audience or computed trait, as in audiences.list of the configuration',
] as const

const userOption = [
  '--user <id>',
  'show the membership or trait value that each destination has for this user (without this option: the number of users in each sync status)',
] as const

const syncDescription = [
  'Uploads a list: the members of an audience, or the users of a computed trait with their values. Hookline then sends to each destination only the memberships or values that this destination has not acknowledged yet.',
  'Without --partial, the sync is a full sync: Hookline also removes the users who are not in the list. With --partial, Hookline changes only the users in the list.',
  'Each line of the list is a user id (plain text, or a JSON string or number), or a JSON object with "userId" and "value". If the first non-blank line has a column "userId", Hookline reads the list as CSV. The column "value" then has the values. The list may be compressed with gzip.',
  'In the list of an audience, the value false removes the user, and a line without a value adds the user. In the list of a computed trait, each line needs a value; null (in CSV: an empty field) removes the user.',
  'If the upload is interrupted or a line is invalid, Hookline applies only the lines before that point, and does not remove the users who are missing from the list. Sync the whole list again.',
  'If a program writes the list to stdin and fails before the end, Hookline does not notice the failure. A full sync then removes the users whom the program did not write. To avoid this, write the list to a file first.',
  'With --wait, the command waits until each change is delivered or has failed. Because of retries, this may take several hours. The exit code is 1 if a change was not delivered, or if a full sync was not applied completely.',
  'With --json, the field "seconds" is the duration of the upload. If --wait is also given, the field "waitSeconds" is the duration of the wait.',
].join('\n\n')

const listDescription = [
  'Lists the audiences and computed traits, and counts the users of each destination by sync status.',
  'The status "acknowledged" means that the destination has accepted the current membership or trait value of the user. `hookline audience drift --help` explains "in flight", "unknown" and "different".',
].join('\n\n')

const resetDescription = [
  'Resets an audience or computed trait: Hookline then no longer knows which membership or trait value each destination has for each user. Use the command, for example, when a destination has lost its data.',
  'The command itself sends nothing to the destinations. The next sync sends the value of every user in its list, even if the value has not changed. A full sync also sends a removal for each user who is no longer in the list.',
].join('\n\n')

const driftDescription = [
  'Finds the users for whom a destination has not acknowledged the current membership or trait value, and counts them by destination and sync status. A destination acknowledges a value when it accepts the message with this value.',
  'The status "in flight" is normal: Hookline is delivering a change.',
  'With the status "unknown", Hookline does not know which value the destination has, for example after a failed delivery or a reset. The next full sync (`hookline audience sync` without --partial) sends the value again.',
  'With the status "different", the destination has an earlier value instead of the current one, for example because it was disabled when the value changed. If the destination is disabled, enable it. Then run a full sync.',
  'The command does not find changes from the time before the destination was added to the audience (in audiences.list). The next full sync sends these changes.',
  'With --json, the command prints one JSON line for each user and destination that it finds. The field "standing" has the sync status: "in_flight", "unknown" or "different".',
  'The exit code is 1 if at least one user has the status "unknown" or "different".',
].join('\n\n')

/** `hookline audience sync|list|show|drift|reset` */
export function audienceCommand(io: CommandIo, open: OpenCommandClients = openCommandClients): Command {
  const doing =
    <Options extends AudienceOptions>(work: AudienceWork<Options>) =>
    (options: Options): Promise<void> =>
      audienceTask(options, io, open, work)
  const subcommand = (name: string, summary: string): Command => withConfigOption(createCommand(name, summary, io))

  const sync = subcommand(
    'sync',
    'upload the list of users of an audience or computed trait, and send the changes to its destinations',
  )
    .description(syncDescription)
    .requiredOption(...nameOption)
    .requiredOption('--members <file>', 'file with the list of members; "-" means stdin')
    .option('--partial', 'change only the users in the list, and leave all others unchanged')
    .option(
      '--allow-empty',
      'accept an empty list in a full sync, and remove all members (default: a full sync with an empty list fails)',
    )
    .option('--wait', 'wait until each change is delivered or has failed')
    .action(doing(syncAudience))
  const list = subcommand(
    'list',
    'list the audiences and computed traits, with the number of users in each sync status for each destination',
  )
    .description(listDescription)
    .action(doing(listAudiences))
  const show = subcommand(
    'show',
    'count the users of an audience or computed trait by destination and sync status, or show the value that each destination has for one user',
  )
    .requiredOption(...nameOption)
    .option(...userOption)
    .action(doing(showAudience))
  const drift = subcommand('drift', 'find users whose membership or trait value may be outdated at a destination')
    .description(driftDescription)
    .requiredOption(...nameOption)
    .action(doing(showDrift))
  const reset = subcommand(
    'reset',
    'make the next sync send the membership or trait value of every user in its list, even if the value has not changed',
  )
    .description(resetDescription)
    .requiredOption(...nameOption)
    .option(
      '--destination <id>',
      'reset the audience only for this destination, which must be enabled (default: for all destinations of the audience)',
    )
    .action(doing(resetAudience))

  const command = createCommand(
    'audience',
    'sync audiences (lists of users) and computed traits (a value for each user), and show their status',
    io,
  )
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
