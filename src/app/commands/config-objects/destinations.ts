import type { Command } from 'commander'
import { destinationStates } from '../../../core/operator/object-view.ts'
import { type CommandIo, createCommand, withExamples } from '../../create-command.ts'
import { closedOption, withJsonOption } from '../../options.ts'
import { applyFiles } from './apply.ts'
import { deleteObject, rotateSecret, switchDestination } from './delete-switch-rotate.ts'
import { listObjects, showObject } from './list-and-show.ts'
import { showStatus } from './show-destination-status.ts'
import { objectAction, objectSubcommand } from './subcommand.ts'
import { testDestination } from './test-destination.ts'

const applyDescription = [
  'Creates and changes destinations so that they match the files. A file has one destination, a list of destinations, or several YAML documents separated by "---". Each destination is written as in `destinations` of the configuration file.',
  'The command replaces references to environment variables and secret files (`sharedSecretFile`, `file: NAME`) with their values, then sends the destinations to the operator service. Apply only files that you trust: they can name any environment variable, and any file that you can read.',
  'The command prints what changes, without secrets. A changed secret is shown as the first 8 hex digits of its SHA-256.',
  'A destination keeps its current `enabled`, `paused` and shared secret if the file does not set them. It also keeps each secret that is "***" in the file, as in the output of `destinations show`.',
  'The operator service checks all changes before it makes the first one. If it refuses a change, the command prints each problem with its place in the file and changes nothing. The exit code is then 2.',
  'If another client of the operator API, or Hookline itself, changes one of the destinations while the command runs, the command stops without overwriting that change. The exit code is then 1. Changes already made are kept. To make the other changes, run the command again.',
].join('\n\n')

/** `hookline destinations` with its subcommands, from `list` to `test`. */
export function destinationsCommand(io: CommandIo): Command {
  const doing = objectAction('destination', io)
  const { subcommand, ofOne } = objectSubcommand('destination', io)

  const commands = [
    subcommand('list', 'list the destinations from the configuration file and those created through the operator API')
      .addOption(
        closedOption(
          '--state',
          'list only destinations in this state; the state "excluded" means that Hookline cannot use the destination, because its settings have problems',
          destinationStates,
        ),
      )
      .option('--source <id>', 'list only destinations of this source')
      .option('--search <text>', 'list only destinations whose id or URL contains this text')
      .action(doing(listObjects)),
    ofOne('show', 'show one destination as YAML, with its secrets masked').action(doing(showObject)),
    ofOne('status', 'show the circuit breaker, the waiting deliveries and the results of a destination')
      .description(
        'Prints the status of the destination: the circuit breaker, requests in progress, deliveries that wait in memory and in retry topics, and the results of the last hour and day. The values that the dispatchers (the services that deliver events) report are up to 10 seconds old.',
      )
      .action(doing(showStatus)),
    subcommand('apply', 'create and change destinations from files')
      .description(applyDescription)
      .requiredOption('-f, --file <path>', 'file or directory with destinations; "-" means stdin')
      .option('--prune', 'also delete destinations created through the operator API, if they are not in the files')
      .option('--dry-run', 'show what would change, and change nothing')
      .action(doing(applyFiles)),
    ofOne('delete', 'delete a destination; its waiting deliveries are dead-lettered').action(doing(deleteObject)),
    ofOne(
      'pause',
      'pause a destination; its deliveries wait until you resume it; a delivery is dead-lettered if its retry window (delivery.window) ends during the pause',
    ).action(doing(switchDestination('pause'))),
    ofOne('resume', 'resume a paused destination, so that Hookline sends it the waiting and the new events').action(
      doing(switchDestination('resume')),
    ),
    ofOne(
      'enable',
      'enable a disabled destination; it gets new events, but not the events that were dropped while it was disabled',
    ).action(doing(switchDestination('enable'))),
    ofOne('disable', 'disable a destination; its events are dropped and not delivered later').action(
      doing(switchDestination('disable')),
    ),
    ofOne('rotate-secret', 'generate a new shared secret for a destination, and print it; it cannot be shown again')
      .option(
        '--overlap <duration>',
        'time for which Hookline uses the old and the new secret: the old one signs X-Signature, and both sign the Standard Webhooks headers (default: 24h)',
      )
      .action(doing(rotateSecret)),
    ofOne('test', 'send a signed test message to each webhook of a destination now')
      .description(
        'The operator service sends one signed test message to each webhook of the destination, immediately and without retries, even if the destination is paused or disabled. The command prints each request, with its secrets masked, and its outcome. The exit code is 1 if no webhook accepted the message.',
      )
      .action(doing(testDestination)),
  ]
  const command = createCommand('destinations', 'list, change and test destinations through the operator API', io)
  for (const each of commands)
    command.addCommand(withExamples(withJsonOption(each), examples[each.name() as keyof typeof examples]))
  return withExamples(command, [
    'hookline destinations apply -f crm.yaml --operator-key-file operator.key',
    'hookline destinations list --operator-url https://operator.example.com',
  ])
}

const examples = {
  list: ['hookline destinations list --state paused', "hookline destinations list --json | jq -r '.destinations[].id'"],
  show: ['hookline destinations show crm', 'hookline destinations show crm > crm.yaml'],
  status: ['hookline destinations status crm', "hookline destinations status crm --json | jq '.results.lastHour'"],
  apply: [
    'hookline destinations apply -f crm.yaml',
    'hookline destinations apply -f destinations.d/ --prune --dry-run',
  ],
  delete: ['hookline destinations delete crm'],
  pause: ['hookline destinations pause crm'],
  resume: ['hookline destinations resume crm'],
  enable: ['hookline destinations enable crm'],
  disable: ['hookline destinations disable crm'],
  'rotate-secret': ['hookline destinations rotate-secret crm --overlap 48h > new-secret'],
  test: ['hookline destinations test crm'],
}
