import type { Command } from 'commander'
import { liftSuppression } from '../../services/operator/lift-suppression.ts'
import { type CommandIo, createCommand, printData, withExamples, withRemedy } from '../command.ts'
import { type OpenCommandClients, openCommandClients } from '../command-clients.ts'
import { loadSettings } from '../load-settings.ts'
import { userIdsOf, withConfigOption, withJsonOption } from '../options.ts'
import { printable } from '../terminal.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
  readonly user: readonly string[]
}

const description = [
  'Lifts the suppression of users who were deleted with `hookline delete-user --suppress`, or with "suppress": true in the operator API. Within a few seconds, new events of the users are delivered again. Events from before the deletion are still not delivered.',
  'The exit code is 0 even if a user is not suppressed.',
].join('\n\n')

/** `hookline unsuppress-user` */
export function unsuppressUserCommand(io: CommandIo, open: OpenCommandClients = openCommandClients): Command {
  const command = withConfigOption(createCommand('unsuppress-user', 'lift the suppression of users', io))
    .description(description)
    .requiredOption('--user <id...>', 'id of a user; accepts several ids and can be repeated')
    .action((options: Options) => run(options, io, open))
  return withExamples(withJsonOption(command), [
    'hookline unsuppress-user --user u-17',
    "hookline unsuppress-user --user u-17 u-18 --json | jq '.lifted'",
  ])
}

async function run(options: Options, io: CommandIo, open: OpenCommandClients): Promise<void> {
  const userIds = userIdsOf(options.user)
  const settings = await loadSettings(options, io)
  const access = open(settings, io)
  try {
    const suppressions = await access.suppressions()
    const lifted = await liftSuppression({ suppressions }, userIds)
    const notSuppressed = userIds.filter(userId => !lifted.includes(userId))
    printData(io, options, { lifted, notSuppressed }, [
      ...lifted.map(userId => `suppression lifted: ${printable(userId)}`),
      ...notSuppressed.map(userId => `was not suppressed: ${printable(userId)}`),
    ])
  } catch (error) {
    throw withRemedy(error)
  } finally {
    await access.close()
  }
}
