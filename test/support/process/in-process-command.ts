import { PassThrough, Readable } from 'node:stream'
import type { CommandIo } from '../../../src/app/create-command.ts'
import { type CommandEntry, runProgram } from '../../../src/app/program.ts'
import { assertNoSecretsPrinted } from '../secret-scan/scan-responses-and-output.ts'

export interface TestIo extends CommandIo {
  out(): string
  err(): string
}

/**
 * The streams, environment and stop signal of a command. It has only the given variables and, by
 * default, no terminal.
 */
export function createTestIo(
  given: { env?: Record<string, string>; stdin?: string | Readable; signal?: AbortSignal; isTTY?: boolean } = {},
): TestIo {
  const [stdout, out] = collected()
  const [stderr, err] = collected()
  const { isTTY = false, stdin } = given
  const input = stdin instanceof Readable ? stdin : Readable.from(stdin === undefined ? [] : [stdin])
  return {
    stdin: Object.assign(input, { isTTY }),
    stdout: Object.assign(stdout, { isTTY }),
    stderr: Object.assign(stderr, { isTTY }),
    env: given.env ?? {},
    stopSignal: () => given.signal ?? new AbortController().signal,
    out,
    err,
  }
}

/**
 * Runs `hookline …argv` in this process. @throws when the output contains a secret, except the new
 * secret of a rotation
 */
export async function runCommand(
  argv: readonly string[],
  given: Parameters<typeof createTestIo>[0] = {},
  entries?: readonly CommandEntry[],
): Promise<{ code: number; out: string; err: string }> {
  const io = createTestIo(given)
  const code = await runProgram(argv, io, entries)
  const result = { code, out: io.out(), err: io.err() }
  assertNoSecretsPrinted(argv, result)
  return result
}

function collected(): [PassThrough, () => string] {
  const stream = new PassThrough()
  const chunks: string[] = []
  stream.on('data', chunk => chunks.push(String(chunk)))
  return [stream, () => chunks.join('')]
}
