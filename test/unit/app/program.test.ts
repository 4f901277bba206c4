import { describe, expect, it } from '@jest/globals'
import {
  CommandFailed,
  type CommandIo,
  ConfigurationRefused,
  createCommand,
  print,
  UsageError,
  withExamples,
} from '../../../src/app/create-command.ts'
import { wholeNumber, withJsonOption } from '../../../src/app/options.ts'
import type { CommandEntry } from '../../../src/app/program.ts'
import { runCommand } from '../../support/process/in-process-command.ts'

const loaded: string[] = []
const failures: Record<string, () => Error> = {
  usage: () => new UsageError('which file?'),
  goal: () => new CommandFailed('2 topics are missing'),
  configuration: () => new ConfigurationRefused(['a.yaml:1:2: x: bad', 'a.yaml:3:4: y: bad']),
  bug: () => new TypeError('x is not a function'),
  caused: () => new Error('the registry does not answer', { cause: new Error('connect ECONNREFUSED') }),
  lines: () => new Error('first\n  second'),
}

function failingCommand(io: CommandIo) {
  const command = createCommand('fail', 'fails', io)
  withJsonOption(command)
    .argument('[how]')
    .option('--count <n>', 'how many', wholeNumber('--count', 1))
    .action(async (how?: string) => {
      if (how !== undefined) throw failures[how]?.()
      print(io, 'done')
    })
  return withExamples(command, ['hookline fail --json'])
}

const entry = (name: string, command: (io: CommandIo) => ReturnType<typeof createCommand>): CommandEntry => ({
  name,
  summary: `summary of ${name}`,
  load: async () => {
    loaded.push(name)
    return command
  },
})
const entries = [entry('fail', failingCommand), entry('other', io => createCommand('other', 'another', io))]
const run = (...argv: string[]) => runCommand(argv, {}, entries)

describe('exit code and stderr', () => {
  it.each<[string, string[], number, string]>([
    ['success', ['fail'], 0, ''],
    ['usage error', ['fail', 'usage'], 2, 'hookline: which file?\n'],
    ['failure', ['fail', 'goal'], 1, 'hookline: 2 topics are missing\n'],
    [
      'invalid configuration: one line per problem',
      ['fail', 'configuration'],
      2,
      'a.yaml:1:2: x: bad\na.yaml:3:4: y: bad\n',
    ],
    ['unexpected error', ['fail', 'bug'], 1, 'hookline: x is not a function\n'],
    ['error with a cause: only the message', ['fail', 'caused'], 1, 'hookline: the registry does not answer\n'],
    ['message with two lines: joined', ['fail', 'lines'], 1, 'hookline: first second\n'],
    ['an unknown command', ['fial'], 2, "hookline: unknown command 'fial' (Did you mean fail?)\n"],
    ['an unknown option', ['fail', '--jsom'], 2, "hookline: unknown option '--jsom' (Did you mean --json?)\n"],
    ['missing value', ['fail', '--count'], 2, "hookline: option '--count <n>' argument missing\n"],
    ['not a number', ['fail', '--count', 'x'], 2, "hookline: --count must be an integer >= 1, not 'x'\n"],
    ['too small', ['fail', '--count', '0'], 2, "hookline: --count must be an integer >= 1, not '0'\n"],
  ])('%s', async (_name, argv, code, err) => {
    expect(await run(...argv)).toEqual({ code, out: code === 0 ? 'done\n' : '', err })
  })

  it('shows the help on stderr without a command', async () => {
    const { code, out, err } = await run()
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('Usage: hookline <command> [options]')
  })

  it('prints stack and cause with HOOKLINE_DEBUG only', async () => {
    const { err } = await runCommand(['fail', 'bug'], { env: { HOOKLINE_DEBUG: '1' } }, entries)
    expect(err).toContain('TypeError: x is not a function\n    at ')
    const { err: withCause } = await runCommand(['fail', 'caused'], { env: { HOOKLINE_DEBUG: '1' } }, entries)
    expect(withCause).toContain('connect ECONNREFUSED')
  })
})

describe('help', () => {
  it('lists every command in one line without loading any', async () => {
    loaded.length = 0
    const { code, out } = await run('--help')
    expect(code).toBe(0)
    expect(out).toMatch(/^ {2}fail .*summary of fail$/m)
    expect(out).toMatch(/^ {2}other .*summary of other$/m)
    expect(loaded).toEqual([])
  })

  it.each([[['fail', '--help']], [['help', 'fail']], [['fail', '-h']]])(
    '%j shows options and examples and loads only that command',
    async argv => {
      loaded.length = 0
      const { code, out, err } = await run(...argv)
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toContain('--count <n>')
      expect(out).toContain('Examples:\n  hookline fail --json')
      expect(loaded).toEqual(['fail'])
    },
  )
})
