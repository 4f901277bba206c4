import type { Command } from 'commander'
import { liftSuppression } from '../../services/operator/write-deletion.ts'
import {
  type CommandIo,
  createCommand,
  printData,
  withConfigOption,
  withExamples,
  withJsonOption,
  withRemedy,
} from '../command.ts'
import { loadSettings } from '../load-settings.ts'
import { type OpenOperatorAccess, openOperatorAccess } from '../operator-access.ts'
import { userIdsOf } from '../options.ts'
import { printable } from '../terminal.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
  readonly user: readonly string[]
}

const description = [
  'Lifts the suppression of users, which `hookline delete-user --suppress` or a deletion request began: what is received of them from then on is taken and delivered again, within some seconds. What was deleted stays deleted.',
  'A user who is not suppressed is no failure.',
].join('\n\n')

/** `hookline unsuppress-user` */
export function unsuppressUserCommand(io: CommandIo, open: OpenOperatorAccess = openOperatorAccess): Command {
  const command = withConfigOption(createCommand('unsuppress-user', 'take messages of a user again', io))
    .description(description)
    .requiredOption('--user <id...>', 'id of the user; several, or the option again, for several users')
    .action((options: Options) => run(options, io, open))
  return withExamples(withJsonOption(command), [
    'hookline unsuppress-user --user u-17',
    "hookline unsuppress-user --user u-17 u-18 --json | jq '.lifted'",
  ])
}

async function run(options: Options, io: CommandIo, open: OpenOperatorAccess): Promise<void> {
  const userIds = userIdsOf(options.user)
  const settings = await loadSettings(options, io)
  const access = open(settings, io)
  try {
    const marks = await access.marks()
    const lifted = await liftSuppression({ marks }, userIds)
    const notSuppressed = userIds.filter(userId => !lifted.includes(userId))
    printData(io, options, { lifted, notSuppressed }, [
      ...lifted.map(userId => `lifted ${printable(userId)}`),
      ...notSuppressed.map(userId => `was not suppressed ${printable(userId)}`),
    ])
  } catch (error) {
    throw withRemedy(error)
  } finally {
    await access.close()
  }
}
