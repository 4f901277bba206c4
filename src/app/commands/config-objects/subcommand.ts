import type { Command } from 'commander'
import type { ObjectApiClient } from '../../../adapters/operator-client/object-api-client.ts'
import type { ObjectKind } from '../../../core/config-objects/config-objects.ts'
import { type CommandIo, createCommand } from '../../create-command.ts'
import { type OperatorOptions, openOperator, withOperatorOptions } from '../../operator-api-options-and-clients.ts'

export interface ObjectTask {
  readonly io: CommandIo
  readonly client: ObjectApiClient
  readonly kind: ObjectKind
}

/** Carries out a command. `id` is the argument of the command; '' if it has none. */
export type ObjectWork<Options> = (task: ObjectTask, options: Options, id: string) => Promise<void>

/** Returns functions that create subcommands with the options of the operator API. */
export function objectSubcommand(kind: ObjectKind, io: CommandIo) {
  const subcommand = (name: string, summary: string): Command => withOperatorOptions(createCommand(name, summary, io))
  const ofOne = (name: string, summary: string): Command =>
    subcommand(name, summary).argument('<id>', `id of the ${kind}`)
  return { subcommand, ofOne }
}

/** Creates the action of a subcommand: opens a client of the operator API and calls `work`. */
export const objectAction =
  (kind: ObjectKind, io: CommandIo) =>
  <Options extends OperatorOptions>(work: ObjectWork<Options>) =>
  async (...given: readonly unknown[]): Promise<void> => {
    // Commander passes the argument, if there is one, and then the options.
    const [id, options] = typeof given[0] === 'string' ? [given[0], given[1] as Options] : ['', given[0] as Options]
    await work({ io, kind, client: await openOperator(options, io) }, options, id)
  }
