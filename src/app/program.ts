import type { Command } from 'commander'
import { library } from '../../packages/client/src/version.ts'
import { type CommandIo, createCommand, type ExitCode, reportFailure, withExamples } from './create-command.ts'

/** A command of the program. Its module is loaded only when the command runs. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<(io: CommandIo) => Command>
}

/** All commands, in the order of the help text. */
export const commandEntries: readonly CommandEntry[] = [
  {
    name: 'audience',
    summary: 'sync audiences (lists of users) and computed traits (a value for each user), and show their status',
    load: async () => (await import('./commands/audience/audience.ts')).audienceCommand,
  },
  {
    name: 'check-config',
    summary: 'validate the configuration without network access',
    load: async () => (await import('./commands/check-config.ts')).checkConfigCommand,
  },
  {
    name: 'config-schema',
    summary: 'print the JSON Schema of the configuration',
    load: async () => (await import('./commands/config-schema.ts')).configSchemaCommand,
  },
  {
    name: 'dead-letters',
    summary: 'list the dead letters: deliveries that failed permanently and were not replayed',
    load: async () => (await import('./commands/dead-letters.ts')).deadLettersCommand,
  },
  {
    name: 'delete-user',
    summary: 'delete users: stop delivering their earlier events, and send delete messages to destinations',
    load: async () => (await import('./commands/delete-user.ts')).deleteUserCommand,
  },
  {
    name: 'destinations',
    summary: 'list, change and test destinations through the operator API',
    load: async () => (await import('./commands/config-objects/destinations.ts')).destinationsCommand,
  },
  {
    name: 'doctor',
    summary: 'check Kafka, the schema registry, topics, clocks and every endpoint',
    load: async () => (await import('./commands/doctor/doctor.ts')).doctorCommand,
  },
  {
    name: 'ledger',
    summary: 'count deliveries and their results for each hour, to show whether deliveries were lost',
    load: async () => (await import('./commands/ledger.ts')).ledgerCommand,
  },
  {
    name: 'message',
    summary: 'show what happened to a message',
    load: async () => (await import('./commands/message.ts')).messageCommand,
  },
  {
    name: 'preview',
    summary: 'show the webhook requests for a message without sending them',
    load: async () => (await import('./commands/preview.ts')).previewCommand,
  },
  {
    name: 'replay',
    summary: 'replay dead letters: try to deliver them again',
    load: async () => (await import('./commands/replay.ts')).replayCommand,
  },
  {
    name: 'resend',
    summary: 'send events of a time span to one destination again',
    load: async () => (await import('./commands/resend.ts')).resendCommand,
  },
  {
    name: 'run',
    summary: 'run the services: collector, dispatcher, audiences and operator',
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    name: 'send',
    summary: 'send one message to the collector',
    load: async () => (await import('./commands/send.ts')).sendCommand,
  },
  {
    name: 'sources',
    summary: 'list and change sources through the operator API',
    load: async () => (await import('./commands/config-objects/sources.ts')).sourcesCommand,
  },
  {
    name: 'topics',
    summary: 'create and check the Kafka topics',
    load: async () => (await import('./commands/topics.ts')).topicsCommand,
  },
  {
    name: 'schemas',
    summary: 'register and check the Avro schemas',
    load: async () => (await import('./commands/schemas.ts')).schemasCommand,
  },
  {
    name: 'tail',
    summary: 'show delivery attempts as they happen',
    load: async () => (await import('./commands/tail.ts')).tailCommand,
  },
  {
    name: 'unsuppress-user',
    summary: 'resume the delivery of new events of users who were deleted with delete-user --suppress',
    load: async () => (await import('./commands/unsuppress-user.ts')).unsuppressUserCommand,
  },
  {
    name: 'produce',
    summary: 'write sample messages, or JSON lines from stdin, to the events topic',
    load: async () => (await import('./commands/produce/produce.ts')).produceCommand,
  },
  {
    name: 'sink',
    summary: 'receive webhooks locally, verify signatures and simulate failures',
    load: async () => (await import('./commands/sink.ts')).sinkCommand,
  },
]

const examples = [
  'hookline check-config --config hookline.yaml',
  'hookline topics apply && hookline schemas register && hookline run',
  'hookline help produce',
]

/**
 * Runs the command in `argv` (without the node binary and the script). Never rejects: it writes
 * errors to `io.stderr`.
 */
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

/**
 * Creates the program, and loads only the requested command. The other commands have only a name
 * and a summary.
 */
async function programFor(argv: readonly string[], io: CommandIo, entries: readonly CommandEntry[]): Promise<Command> {
  const program = createCommand('hookline', 'Delivers customer-data events from Kafka to webhooks', io)
    .usage('<command> [options]')
    .version(library.version, '-V, --version', 'show the version')
    .helpCommand('help [command]', 'show the help of a command')
  const words = argv.filter(word => !word.startsWith('-'))
  const requested = words[0] === 'help' ? words[1] : words[0]
  for (const entry of entries) {
    if (entry.name === requested) program.addCommand((await entry.load())(io))
    else program.addCommand(createCommand(entry.name, entry.summary, io))
  }
  return withExamples(program, examples)
}
