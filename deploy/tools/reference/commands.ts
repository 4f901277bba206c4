import { PassThrough, Writable } from 'node:stream'
import type { Argument, Command, Option } from 'commander'
import type { CommandIo } from '../../../src/app/create-command.ts'
import { commandEntries } from '../../../src/app/program.ts'
import { code, generatedFrom, plain, table } from './markdown.ts'

/** Environment variables, except those that the configuration file refers to. */
export const variables = {
  HOOKLINE_CONFIG: 'Configuration file, if `--config` is not given.',
  HOOKLINE_LOG_LEVEL: 'Minimum log level of `hookline run`, if `--log-level` is not given.',
  HOOKLINE_DEBUG: 'If set and not empty, errors include the stack trace and the causes.',
  HOOKLINE_OPERATOR_URL: 'URL of the operator API, if `--operator-url` is not given.',
  HOOKLINE_OPERATOR_KEY_FILE: 'File with a key of the operator API, if `--operator-key-file` is not given.',
  KAFKA_BROKERS: 'Bootstrap brokers, `host:port,…`; overrides `kafka.brokers` of the configuration.',
  SCHEMA_REGISTRY_URL: 'URL of the schema registry; overrides `registry.url` of the configuration.',
} as const

const head = `# Commands

This page lists the commands of the \`hookline\` program with their options. The [glossary](glossary.md) explains terms such as *destination*, *dead letter* and *audience*. [Errors and outcomes](errors.md) explains the outcomes, reasons and codes. Use \`hookline <command>\` in the container, and \`npx hookline <command>\` in a clone of the repository.
\`hookline help <command>\` prints the text of one command. ${generatedFrom('the commands')}

Results go to stdout; errors and messages about progress go to stderr. \`--json\` prints JSON for programs. For an unknown command or option, the error suggests a known one with a similar name.

## Exit codes
${table(
  ['code', 'meaning'],
  [
    ['0', 'Success.'],
    ['1', 'The command failed, or its result is incomplete. One line on stderr has the reason.'],
    ['2', 'The command line or the configuration has an error. The command changed nothing.'],
    ['130, 143', 'SIGINT (130) or SIGTERM (143) ended the command immediately.'],
  ],
)}

## Environment
${table(
  ['variable', 'meaning'],
  Object.entries(variables).map(([name, meaning]) => [code(name), meaning]),
)}
`

/** Returns the text of `docs/reference/commands.md`. */
export async function commandsText(): Promise<string> {
  const commands = await loadedCommands()
  return [head, ...commands.map(({ command, help }) => sectionsOf(command, help))].join('\n')
}

/** All commands, sorted by name. */
export async function loadedCommands(): Promise<readonly { command: Command; help: (of: Command) => string }[]> {
  return Promise.all(
    [...commandEntries]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(async entry => {
        let shown = ''
        const stdout = new Writable({
          write(chunk, _encoding, done) {
            shown += chunk
            done()
          },
        })
        const command = (await entry.load())(ioTo(stdout))
        const help = (of: Command): string => {
          shown = ''
          of.outputHelp()
          return shown
        }
        return { command, help }
      }),
  )
}

const ioTo = (stdout: Writable): CommandIo => ({
  stdin: new PassThrough(),
  stdout,
  stderr: stdout,
  env: {},
  stopSignal: () => new AbortController().signal,
})

function sectionsOf(command: Command, help: (of: Command) => string, above: readonly string[] = ['hookline']): string {
  const words = [...above, command.name()]
  const own = sectionOf(command, help(command), words)
  return [own, ...command.commands.map(each => sectionsOf(each, help, words))].join('\n')
}

function sectionOf(command: Command, help: string, words: readonly string[]): string {
  const name = words.join(' ')
  const options = command.options.filter(({ long }) => long !== '--help')
  const given = [...command.registeredArguments.map(argumentRow), ...options.map(optionRow)]
  const inner = command.commands.map(each => [code(`${name} ${each.name()}`), sentence(plain(each.summary()))])
  const [, examples = ''] = help.split('\nExamples:\n')
  const parts = [
    `${'#'.repeat(words.length)} ${name}`,
    sentence(plain(command.description())),
    ...(inner.length > 0 ? [table(['command', 'what it does'], inner)] : []),
    ...(given.length > 0 ? [table(['argument or option', 'meaning'], given)] : []),
    `\`\`\`sh\n${examples.trimEnd().replaceAll(/^ {2}/gm, '')}\n\`\`\``,
  ]
  return `${parts.join('\n\n')}\n`
}

const argumentRow = (argument: Argument): readonly string[] => [
  code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
  sentence(plain(argument.description)),
]

function optionRow({ flags, description, argChoices, defaultValue, mandatory }: Option): readonly string[] {
  const choices = argChoices === undefined ? [] : [`One of ${argChoices.map(code).join(', ')}.`]
  const standard = defaultValue === undefined ? [] : [`Default: ${code(String(defaultValue))}.`]
  const need = mandatory ? ['Required.'] : []
  return [code(flags), [sentence(plain(description)), ...choices, ...standard, ...need].join(' ')]
}

const sentence = (text: string): string => {
  const capitalised = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.:)]$/.test(capitalised) && !/[^.]\)$/.test(capitalised) ? capitalised : `${capitalised}.`
}
