import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { linesOf } from '../../adapters/lines.ts'
import { maxMessageBytes } from '../../core/message/parts.ts'
import { type CommandIo, UsageError } from '../command.ts'

/** A list of members, as far as it has been read. */
export interface MemberList {
  /** `members.csv`, `stdin` */
  readonly name: string
  /** Bytes; undefined: not known. */
  readonly size: number | undefined
  readonly bytesRead: number
  /** Can be read once; ends with an error when `signal` is aborted. */
  lines(signal: AbortSignal): AsyncIterable<readonly string[]>
}

/** Opens `--members`: a file, or `-` for stdin. @throws UsageError when it cannot be read */
export async function openMemberList(file: string, { stdin }: CommandIo): Promise<MemberList> {
  if (file === '-') return listOf('stdin', undefined, stdin)
  try {
    const handle = await open(file)
    const status = await handle.stat()
    if (!status.isDirectory()) return listOf(file, status.size || undefined, handle.createReadStream())
    await handle.close()
  } catch (error) {
    throw new UsageError(`--members: ${(error as Error).message}`)
  }
  throw new UsageError(`--members: ${file} is a directory`)
}

function listOf(name: string, size: number | undefined, stream: Readable): MemberList {
  let bytesRead = 0
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of stream) {
      const bytes = Buffer.from(piece)
      bytesRead += bytes.length
      yield bytes
    }
  }
  return {
    name,
    size,
    get bytesRead() {
      return bytesRead
    },
    lines: signal => {
      addAbortSignal(signal, stream)
      return linesOf(pieces(), maxMessageBytes)
    },
  }
}
