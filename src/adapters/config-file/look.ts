import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import type { FileContent } from '../../core/settings/files.ts'

export type DirectoryContent =
  | { readonly kind: 'read'; readonly names: readonly string[] }
  | { readonly kind: 'unreadable'; readonly reason: string }

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
    if (!found.isFile())
      return { kind: 'unreadable', reason: found.isDirectory() ? reasons.EISDIR : 'is no regular file' }
    if (found.size > largestBytes) return { kind: 'unreadable', reason: `is larger than ${largestBytes} bytes` }
    return { kind: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path)) }
  } catch (error) {
    return { kind: 'unreadable', reason: reasonOf(error) }
  }
}

async function readNames(directory: string): Promise<DirectoryContent> {
  try {
    return { kind: 'read', names: (await readdir(directory)).sort() }
  } catch (error) {
    return { kind: 'unreadable', reason: reasonOf(error) }
  }
}

const reasons = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a directory',
  EISDIR: 'is a directory',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return code in reasons ? reasons[code as keyof typeof reasons] : `cannot be read (${code})`
}
