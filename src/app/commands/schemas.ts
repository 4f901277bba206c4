import type { Command } from 'commander'
import { createRegistry, type Registry } from '../../adapters/avro/schema-registry.ts'
import { CommandFailed, type CommandIo, createCommand, printData, withExamples } from '../create-command.ts'
import { loadSettings } from '../load-settings.ts'
import { withConfigOption, withJsonOption } from '../options.ts'
import { type Subject, schemaStateOf, subjectsOf, sufficientLevels } from '../schema-states.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
}

/** `hookline schemas register|check` */
export function schemasCommand(io: CommandIo): Command {
  const register = createCommand('register', 'register the schemas; run this command before the services start', io)
  register.description(
    'Registers the Avro schemas. Run this command before the services start. If the compatibility level of a subject is neither BACKWARD_TRANSITIVE nor FULL_TRANSITIVE, the command sets it to BACKWARD_TRANSITIVE.',
  )
  register.action(async (options: Options) => {
    const settings = await loadSettings(options, io)
    await registerSchemas(createRegistry(settings.registry), subjectsOf(settings), options, io)
  })
  const check = createCommand(
    'check',
    'show the state of each schema; exit code 1 if a schema is not registered, or if the compatibility level of its subject is neither BACKWARD_TRANSITIVE nor FULL_TRANSITIVE',
    io,
  )
  check.action(async (options: Options) => {
    const settings = await loadSettings(options, io)
    await checkSchemas(createRegistry(settings.registry), subjectsOf(settings), options, io)
  })
  const command = createCommand('schemas', 'register and check the Avro schemas', io)
  for (const each of [register, check])
    command.addCommand(
      withExamples(withJsonOption(withConfigOption(each)), [
        `hookline schemas ${each.name()} --config hookline.yaml`,
        `SCHEMA_REGISTRY_URL=http://127.0.0.1:8081 hookline schemas ${each.name()} --json`,
      ]),
    )
  return withExamples(command, ['hookline schemas register', 'hookline schemas check'])
}

async function registerSchemas(
  registry: Registry,
  subjects: readonly Subject[],
  options: Options,
  io: CommandIo,
): Promise<void> {
  const registered = []
  for (const { subject, schema } of subjects) {
    const level = await registry.compatibility(subject)
    // The compatibility level is set first, so that the registry never accepts an incompatible
    // version.
    if (!sufficientLevels.includes(level ?? '')) await registry.setBackwardTransitive(subject)
    const result = await registry.register(subject, schema)
    if ('refused' in result)
      throw new CommandFailed(
        `the schema registry ${registry.url} rejected the schema of ${subject}: ${result.refused}`,
      )
    registered.push({ subject, ...result })
  }
  const lines = registered.map(({ subject, version, id }) => `${subject}: registered as version ${version}, id ${id}`)
  printData(io, options, { schemas: registered }, lines)
}

async function checkSchemas(
  registry: Registry,
  subjects: readonly Subject[],
  options: Options,
  io: CommandIo,
): Promise<void> {
  const checked = await Promise.all(
    subjects.map(async each => ({ subject: each.subject, ...(await schemaStateOf(registry, each)) })),
  )
  const fit = checked.every(({ state }) => state === 'registered')
  const lines = checked.map(({ subject, state, detail }) => `${subject} ${state}: ${detail}`)
  printData(io, options, { fit, schemas: checked }, lines)
  if (fit) return
  const hasIncompatible = checked.some(({ state }) => state === 'incompatible')
  throw new CommandFailed(
    hasIncompatible
      ? 'another program or a newer version of Hookline registered an incompatible schema: update Hookline, or use another topics.prefix'
      : 'some schemas are not registered, or the compatibility level of their subject is too weak; in both cases, run: hookline schemas register',
  )
}
