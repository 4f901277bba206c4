import { PassThrough, Writable } from 'node:stream'
import type { Argument, Command, Option } from 'commander'
import type { CommandIo } from '../../../src/app/command.ts'
import { commandEntries } from '../../../src/app/program.ts'
import { code, madeFrom, plain, table } from './markdown.ts'

/** What commands read from the environment, beside what the configuration file puts in from it. */
export const variables = {
  HOOKLINE_CONFIG: 'The configuration file, where `--config` is not given.',
  HOOKLINE_LOG_LEVEL: 'The least level that `hookline run` logs, where `--log-level` is not given.',
  HOOKLINE_DEBUG: 'Not empty: a failure is told with its stack and its causes.',
  KAFKA_BROKERS: '`host:port,…`: beats `kafka.brokers`.',
  SCHEMA_REGISTRY_URL: 'Beats `registry.url`.',
} as const

const head = `# Commands

\`hookline <command>\` in the container, \`npx hookline <command>\` in a checkout. ${madeFrom('the commands themselves')}
\`hookline help <command>\` shows the same in a terminal.

Data goes to stdout, everything else to stderr. \`--json\` prints data for programs. A mistyped command or option is told with the nearest right one.

## Exit codes
${table(
  ['code', ''],
  [
    ['0', 'Done.'],
    ['1', 'Failed, or not all of it was done; one line on stderr says why.'],
    ['2', 'What was typed, or the configuration, cannot be used: nothing was done.'],
  ],
)}

## Environment
${table(
  ['variable', ''],
  Object.entries(variables).map(([name, meaning]) => [code(name), meaning]),
)}
`

/** `docs/reference/commands.md` */
export async function commandsText(): Promise<string> {
  const commands = await loadedCommands()
  return [head, ...commands.map(({ command, help }) => sectionsOf(command, help))].join('\n')
}

/** Every command with a function that takes down what it shows as help. */
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
    ...(inner.length > 0 ? [table(['command', ''], inner)] : []),
    ...(given.length > 0 ? [table(['argument or option', ''], given)] : []),
    `\`\`\`sh\n${examples.trimEnd().replaceAll(/^ {2}/gm, '')}\n\`\`\``,
  ]
  return `${parts.join('\n\n')}\n`
}

const argumentRow = (argument: Argument): readonly string[] => [
  code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
  sentence(plain(argument.description)),
]

function optionRow({ flags, description, argChoices, defaultValue, envVar, mandatory }: Option): readonly string[] {
  const choices = argChoices === undefined ? [] : [`One of ${argChoices.map(code).join(', ')}.`]
  const standard = defaultValue === undefined ? [] : [`Default: ${code(String(defaultValue))}.`]
  const variable = envVar === undefined ? [] : [`Also ${code(envVar)}.`]
  const need = mandatory ? ['Required.'] : []
  return [code(flags), [sentence(plain(description)), ...choices, ...standard, ...variable, ...need].join(' ')]
}

/** A text of the help as a sentence of a page. */
const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.:)]$/.test(begun) && !/[^.]\)$/.test(begun) ? begun : `${begun}.`
}
