import type { Command } from 'commander'
import { type CommandIo, createCommand, withExamples } from '../../create-command.ts'
import { wholeNumber, withJsonOption } from '../../options.ts'
import { applyFiles } from './apply.ts'
import { deleteObject, rotateKey } from './delete-switch-rotate.ts'
import { listObjects, showObject } from './list-and-show.ts'
import { objectAction, objectSubcommand } from './subcommand.ts'

const applyDescription = [
  'Creates and changes sources so that they match the files. A file has one source, a list of sources, or several YAML documents separated by "---". Each source is written as in `sources` of the configuration file.',
  'A source that has no write key in the file keeps its current write keys. A new source must have a write key in the file. The command prints what changes, without keys. Otherwise, the command works like `hookline destinations apply`.',
].join('\n\n')

/** `hookline sources list|show|apply|delete|rotate-key` */
export function sourcesCommand(io: CommandIo): Command {
  const doing = objectAction('source', io)
  const { subcommand, ofOne } = objectSubcommand('source', io)

  const commands = [
    subcommand('list', 'list the sources from the configuration file and those created through the operator API')
      .option('--search <text>', 'list only sources whose id contains this text')
      .action(doing(listObjects)),
    ofOne('show', 'show one source as YAML, with its write keys masked').action(doing(showObject)),
    subcommand('apply', 'create and change sources from files')
      .description(applyDescription)
      .requiredOption('-f, --file <path>', 'file or directory with sources; "-" means stdin')
      .option('--prune', 'also delete sources created through the operator API, if they are not in the files')
      .option('--dry-run', 'show what would change, and change nothing')
      .action(doing(applyFiles)),
    ofOne('delete', 'delete a source; possible only if no destination receives its messages').action(
      doing(deleteObject),
    ),
    ofOne('rotate-key', 'generate a new write key for a source, and print it; it cannot be shown again')
      .option(
        '--keep <n>',
        'keep the newest n of the earlier write keys valid, and remove the others (default: keep all)',
        wholeNumber('--keep', 0),
      )
      .action(doing(rotateKey)),
  ]
  const command = createCommand('sources', 'list and change sources through the operator API', io)
  for (const each of commands)
    command.addCommand(withExamples(withJsonOption(each), examples[each.name() as keyof typeof examples]))
  return withExamples(command, ['hookline sources apply -f web.yaml', 'hookline sources rotate-key web'])
}

const examples = {
  list: ['hookline sources list', "hookline sources list --json | jq -r '.sources[].id'"],
  show: ['hookline sources show web'],
  apply: ['hookline sources apply -f web.yaml', 'hookline sources apply -f sources.d/ --prune --dry-run'],
  delete: ['hookline sources delete web'],
  'rotate-key': ['hookline sources rotate-key web > new-write-key', 'hookline sources rotate-key web --keep 0'],
}
