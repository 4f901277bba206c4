import type { Command } from 'commander'
import { liftSuppression } from '../../services/operator/lift-suppression.ts'
import { type CommandIo, createCommand, printData, withExamples, withRemedy } from '../create-command.ts'
import { type OpenCommandClients, openCommandClients } from '../kafka-clients-of-commands.ts'
import { loadSettings } from '../load-settings.ts'
import { userIdsOf, withConfigOption, withJsonOption } from '../options.ts'
import { printable } from '../terminal-table-and-progress-bar.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
  readonly user: readonly string[]
}

const description = [
  'Resumes the delivery of new events of users who were deleted with `hookline delete-user --suppress`, or with "suppress": true in the operator API. This takes a few seconds. Hookline delivers neither the events from before the deletion nor the events that it has dropped since the deletion.',
  'If Hookline already delivers new events of a user, the command changes nothing for this user, and the exit code is 0.',
].join('\n\n')

/** `hookline unsuppress-user` */
export function unsuppressUserCommand(io: CommandIo, open: OpenCommandClients = openCommandClients): Command {
  const command = withConfigOption(
    createCommand(
      'unsuppress-user',
      'resume the delivery of new events of users who were deleted with delete-user --suppress',
      io,
    ),
  )
    .description(description)
    .requiredOption('--user <id...>', 'one or more user ids, separated by spaces; the option can be repeated')
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
      ...lifted.map(userId => `Hookline delivers new events of this user again: ${printable(userId)}`),
      ...notSuppressed.map(
        userId => `nothing changed, because Hookline already delivers new events of this user: ${printable(userId)}`,
      ),
    ])
  } catch (error) {
    throw withRemedy(error)
  } finally {
    await access.close()
  }
}
