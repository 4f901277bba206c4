import type { Command } from 'commander'
import { library } from '../../packages/client/src/version.ts'
import { type CommandIo, createCommand, type ExitCode, reportFailure, withExamples } from './command.ts'

/** A command of the program; its module is loaded only when it is asked for. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<(io: CommandIo) => Command>
}

/** Every command, in the order of the help. */
export const commandEntries: readonly CommandEntry[] = [
  {
    name: 'audience',
    summary: 'sync audiences and computed traits, and see how they stand',
    load: async () => (await import('./commands/audience/audience.ts')).audienceCommand,
  },
  {
    name: 'check-config',
    summary: 'check the configuration, without network',
    load: async () => (await import('./commands/check-config.ts')).checkConfigCommand,
  },
  {
    name: 'config-schema',
    summary: 'print the JSON Schema of the configuration',
    load: async () => (await import('./commands/config-schema.ts')).configSchemaCommand,
  },
  {
    name: 'dead-letters',
    summary: 'list what was given up',
    load: async () => (await import('./commands/dead-letters.ts')).deadLettersCommand,
  },
  {
    name: 'delete-user',
    summary: 'delete users, and tell their destinations',
    load: async () => (await import('./commands/delete-user.ts')).deleteUserCommand,
  },
  {
    name: 'doctor',
    summary: 'check Kafka, registry, topics, clocks and every endpoint',
    load: async () => (await import('./commands/doctor/doctor.ts')).doctorCommand,
  },
  {
    name: 'preview',
    summary: 'show the requests that a message would become',
    load: async () => (await import('./commands/preview.ts')).previewCommand,
  },
  {
    name: 'replay',
    summary: 'put back what was given up',
    load: async () => (await import('./commands/replay.ts')).replayCommand,
  },
  {
    name: 'run',
    summary: 'run the services of this process',
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    name: 'send',
    summary: 'send one message through the collector',
    load: async () => (await import('./commands/send.ts')).sendCommand,
  },
  {
    name: 'topics',
    summary: 'create and check the Kafka topics',
    load: async () => (await import('./commands/topics.ts')).topicsCommand,
  },
  {
    name: 'schemas',
    summary: 'register and check the schemas',
    load: async () => (await import('./commands/schemas.ts')).schemasCommand,
  },
  {
    name: 'tail',
    summary: 'show attempts as they are made',
    load: async () => (await import('./commands/tail.ts')).tailCommand,
  },
  {
    name: 'unsuppress-user',
    summary: 'take messages of a user again',
    load: async () => (await import('./commands/unsuppress-user.ts')).unsuppressUserCommand,
  },
  {
    name: 'produce',
    summary: 'put messages on the events topic: a sample load, or lines of JSON',
    load: async () => (await import('./commands/produce/produce.ts')).produceCommand,
  },
  {
    name: 'sink',
    summary: 'receive webhooks on this machine, check signatures, fail as told',
    load: async () => (await import('./commands/sink.ts')).sinkCommand,
  },
]

const examples = [
  'hookline check-config --config hookline.yaml',
  'hookline topics apply && hookline schemas register && hookline run',
  'hookline help produce',
]

/** Runs what was typed (`argv` without node and script). Never throws: failures are told on `io.stderr`. */
export async function runProgram(
  argv: readonly string[],
  io: CommandIo,
  entries: readonly CommandEntry[] = commandEntries,
): Promise<ExitCode> {
  try {
    const program = await programFor(argv, io, entries)
    await program.parseAsync(argv, { from: 'user' })
    return 0
  } catch (error) {
    return reportFailure(error, io)
  }
}

/** The program with the one command that is asked for; of the others only name and summary, for help and near misses. */
async function programFor(argv: readonly string[], io: CommandIo, entries: readonly CommandEntry[]): Promise<Command> {
  const program = createCommand('hookline', 'Delivers analytics messages from Kafka to webhooks', io)
    .usage('<command> [options]')
    .version(library.version, '-V, --version', 'show the version')
    .helpCommand('help [command]', 'show the help of a command')
  const words = argv.filter(word => !word.startsWith('-'))
  const asked = words[0] === 'help' ? words[1] : words[0]
  for (const entry of entries) {
    if (entry.name === asked) program.addCommand((await entry.load())(io))
    else program.addCommand(createCommand(entry.name, entry.summary, io))
  }
  return withExamples(program, examples)
}
