import type { Command } from 'commander'
import type { ObjectKind } from '../../../core/config-objects/config-objects.ts'
import { type CommandIo, createCommand } from '../../command.ts'
import { type OperatorOptions, openOperator, withOperatorOptions } from '../../operator-options.ts'
import type { ObjectWork } from './task.ts'

/** Creates subcommands with the options of the operator API; `ofOne` adds the argument `<id>`. */
export function objectSubcommand(kind: ObjectKind, io: CommandIo) {
  const subcommand = (name: string, summary: string): Command => withOperatorOptions(createCommand(name, summary, io))
  const ofOne = (name: string, summary: string): Command =>
    subcommand(name, summary).argument('<id>', `id of the ${kind}`)
  return { subcommand, ofOne }
}

/** The action of a subcommand: opens the client and does the work. */
export const objectAction =
  (kind: ObjectKind, io: CommandIo) =>
  <Options extends OperatorOptions>(work: ObjectWork<Options>) =>
  async (...given: readonly unknown[]): Promise<void> => {
    // Commander passes the arguments, then the options.
    const [id, options] = typeof given[0] === 'string' ? [given[0], given[1] as Options] : ['', given[0] as Options]
    await work({ io, kind, client: await openOperator(options, io) }, options, id)
  }
