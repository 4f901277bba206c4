import type { Command } from 'commander'
import { configurationJsonSchema } from '../../core/settings/configuration-json-schema.ts'
import { type CommandIo, createCommand, print, withExamples } from '../create-command.ts'

/** `hookline config-schema`: the JSON Schema that editors validate the configuration with. */
export function configSchemaCommand(io: CommandIo): Command {
  const command = createCommand('config-schema', 'print the JSON Schema of the configuration', io)
    .description(
      'Prints the JSON Schema (draft 2020-12) of the configuration file. An editor can use the schema to check the file and to complete its keys.',
    )
    .action(() => print(io, JSON.stringify(configurationJsonSchema(), null, 2)))
  return withExamples(command, [
    'hookline config-schema > hookline.schema.json',
    '# yaml-language-server: $schema=hookline.schema.json   (first line of the configuration)',
  ])
}
