import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import type { FileContent } from '../../core/settings/files.ts'
import type { Objection } from '../../core/settings/problem.ts'

export type DirectoryContent =
  | { readonly kind: 'read'; readonly names: readonly string[] }
  | (Objection & { readonly kind: 'unreadable' })

/** One reading of everything that the configuration consists of. */
export interface Look {
  text(path: string): Promise<FileContent>
  names(directory: string): Promise<DirectoryContent>
  /** Everything that was asked for, readable or not. */
  paths(): readonly string[]
  /** Whether every one of them reads the same now. */
  unchanged(): Promise<boolean>
}

/** Far above any configuration, far below what would stop the process. */
const largestBytes = 8 * 1_048_576

export function createLook(): Look {
  /** Only digests are kept for the comparison, no secret. */
  const seen = new Map<string, () => Promise<boolean>>()

  async function read<T>(path: string, from: (path: string) => Promise<T>): Promise<T> {
    const content = await from(path)
    const digest = digestOf(content)
    seen.set(path, async () => digestOf(await from(path)) === digest)
    return content
  }

  return {
    text: path => read(path, readText),
    names: directory => read(directory, readNames),
    paths: () => [...seen.keys()],
    async unchanged() {
      for (const same of seen.values()) if (!(await same())) return false
      return true
    },
  }
}

const digestOf = (content: unknown): string => createHash('sha256').update(JSON.stringify(content)).digest('base64')

async function readText(path: string): Promise<FileContent> {
  try {
    // Opening a pipe would wait for its writer.
    const found = await stat(path)
    if (found.isDirectory()) return { kind: 'unreadable', ...objections.EISDIR }
    if (!found.isFile()) return { kind: 'unreadable', message: 'is no regular file', hint: 'name one that is' }
    if (found.size > largestBytes) {
      return { kind: 'unreadable', message: `is larger than ${largestBytes} bytes`, hint: 'is it the right file?' }
    }
    return { kind: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path)) }
  } catch (error) {
    return { kind: 'unreadable', ...objectionOf(error) }
  }
}

async function readNames(directory: string): Promise<DirectoryContent> {
  try {
    return { kind: 'read', names: (await readdir(directory)).sort() }
  } catch (error) {
    return { kind: 'unreadable', ...objectionOf(error) }
  }
}

/** Of what the configuration names. */
export const misnamed = 'make it, or mend its name: names are relative to the configuration file'
const unreadable = 'let the user of this process read it'

const objections = {
  ENOENT: { message: 'does not exist', hint: misnamed },
  ENOTDIR: { message: 'is not a directory', hint: misnamed },
  EISDIR: { message: 'is a directory', hint: 'name a file in it' },
  EACCES: { message: 'may not be read by this user', hint: unreadable },
  EPERM: { message: 'may not be read by this user', hint: unreadable },
  ERR_ENCODING_INVALID_ENCODED_DATA: { message: 'is not UTF-8 text', hint: 'save it as UTF-8' },
} as const satisfies Record<string, Objection>

function objectionOf(error: unknown): Objection {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  if (Object.hasOwn(objections, code)) return objections[code as keyof typeof objections]
  return { message: `cannot be read (${code})`, hint: 'see whether another program can read it' }
}
