import type { Command } from 'commander'
import { createRegistry, type Registry } from '../../adapters/avro/schema-registry.ts'
import {
  CommandFailed,
  type CommandIo,
  createCommand,
  printData,
  withConfigOption,
  withExamples,
  withJsonOption,
} from '../command.ts'
import { loadSettings } from '../load-settings.ts'
import { type Subject, stateOf, subjectsOf, sufficientLevels } from '../schema-states.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
}

/** `hookline schemas register|check` */
export function schemasCommand(io: CommandIo): Command {
  const register = createCommand('register', 'register the schemas, in a deployment step before the services', io)
  register.action(async (options: Options) => {
    const settings = await loadSettings(options, io)
    await registerSchemas(createRegistry(settings.registry), subjectsOf(settings), options, io)
  })
  const check = createCommand('check', 'tell whether the schemas are registered, or could be', io)
  check.action(async (options: Options) => {
    const settings = await loadSettings(options, io)
    await checkSchemas(createRegistry(settings.registry), subjectsOf(settings), options, io)
  })
  const command = createCommand('schemas', 'register and check the schemas of what is on the topics', io)
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
    // Before the first version: no incompatible one can slip in between.
    if (!sufficientLevels.includes(level ?? '')) await registry.requireBackwardTransitive(subject)
    const result = await registry.register(subject, schema)
    if ('refused' in result)
      throw new CommandFailed(`${registry.url} refuses the schema of ${subject}: ${result.refused}`)
    registered.push({ subject, ...result })
  }
  const lines = registered.map(({ subject, version, id }) => `${subject} version ${version} id ${id}`)
  printData(io, options, { schemas: registered }, lines)
}

async function checkSchemas(
  registry: Registry,
  subjects: readonly Subject[],
  options: Options,
  io: CommandIo,
): Promise<void> {
  const checked = await Promise.all(
    subjects.map(async each => ({ subject: each.subject, ...(await stateOf(registry, each)) })),
  )
  const fit = checked.every(({ state }) => state === 'registered')
  const lines = checked.map(({ subject, state, detail }) => `${subject} ${state}: ${detail}`)
  printData(io, options, { fit, schemas: checked }, lines)
  if (fit) return
  const isHopeless = checked.some(({ state }) => state === 'incompatible')
  throw new CommandFailed(
    isHopeless
      ? 'the registry holds a schema that this version cannot follow: another program or a newer version wrote it'
      : 'the schemas are not ready for use; run: hookline schemas register',
  )
}
