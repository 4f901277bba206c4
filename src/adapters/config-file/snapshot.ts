import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { sep } from 'node:path'
import type { FileContent } from '../../core/settings/files.ts'
import type { Objection } from '../../core/units.ts'

export type DirectoryContent =
  | { readonly kind: 'read'; readonly names: readonly string[] }
  | (Objection & { readonly kind: 'unreadable' })

/** One reading of everything that the configuration consists of. */
export interface ConfigSnapshot {
  /** `within`: a directory; a file outside of it, also by a link, is unreadable. */
  text(path: string, within?: string): Promise<FileContent>
  names(directory: string): Promise<DirectoryContent>
  /** Everything that was asked for, readable or not. */
  paths(): readonly string[]
  /** Whether every one of them reads the same now. */
  unchanged(): Promise<boolean>
}

/** Far above any configuration, far below what would stop the process. */
const largestBytes = 8 * 1_048_576
/** A destination with five webhooks and all the headers that they may have takes 50 KB. */
const largestWithinBytes = 262_144

export function createConfigSnapshot(): ConfigSnapshot {
  /** Only digests are kept for the comparison, no secret. */
  const seen = new Map<string, { readonly path: string; readonly same: () => Promise<boolean> }>()

  async function read<T>(path: string, from: () => Promise<T>, within = ''): Promise<T> {
    const content = await from()
    const digest = digestOf(content)
    seen.set(`${within}\0${path}`, { path, same: async () => digestOf(await from()) === digest })
    return content
  }

  return {
    text: (path, within) => read(path, () => readText(path, within), within),
    names: directory => read(directory, () => readNames(directory)),
    paths: () => [...new Set([...seen.values()].map(({ path }) => path))],
    async unchanged() {
      for (const { same } of seen.values()) if (!(await same())) return false
      return true
    },
  }
}

const digestOf = (content: unknown): string => createHash('sha256').update(JSON.stringify(content)).digest('base64')

async function readText(path: string, within?: string): Promise<FileContent> {
  try {
    return await withinTime(path, () => readRegular(path, within))
  } catch (error) {
    return { kind: 'unreadable', ...objectionOf(error, within === undefined ? misnamed : misnamedWithin) }
  }
}

async function readRegular(path: string, within?: string): Promise<FileContent> {
  const most = within === undefined ? largestBytes : largestWithinBytes
  // Opening a pipe, or reading a log of the kernel, would wait for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    if (found.isDirectory()) return { kind: 'unreadable', ...objections.EISDIR }
    if (!found.isFile()) return { kind: 'unreadable', message: 'is no regular file', hint: 'name one that is' }
    if (within !== undefined && !(await isWithin(path, within, found))) {
      return {
        kind: 'unreadable',
        message: 'is outside of its directory',
        hint: 'put it below the directory that destinationsFrom names',
      }
    }
    // One byte more than is allowed: some files say that they are empty and never end.
    const bytes = Buffer.allocUnsafe(Math.min(found.size, most) + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length)
      length += bytesRead
      if (bytesRead === 0 || length === bytes.length) break
    }
    if (length > most) {
      return { kind: 'unreadable', message: `is larger than ${most} bytes`, hint: 'is it the right file?' }
    }
    if (length > found.size) {
      return { kind: 'unreadable', message: 'holds more than its size says', hint: 'name a file of a disk' }
    }
    return { kind: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length)) }
  } finally {
    await file.close()
  }
}

/** Whether what was opened is below the directory. A link that was changed since then leads to another file. */
async function isWithin(path: string, directory: string, opened: Stats): Promise<boolean> {
  const [file, root] = await Promise.all([realpath(path), realpath(directory)])
  const named = await stat(file)
  return file.startsWith(`${root}${sep}`) && named.ino === opened.ino && named.dev === opened.dev
}

/** A network disk that is away holds a read, and a thread with it. */
const timeLimitMs = 5_000

/** Reads that took too long. While one still holds its thread, its file is not read again. */
const held = new Set<string>()

async function withinTime(path: string, read: () => Promise<FileContent>): Promise<FileContent> {
  const late = { kind: 'unreadable', message: 'cannot be read in time', hint: 'is its disk there?' } as const
  if (held.has(path)) return late
  const reading = read().finally(() => held.delete(path))
  const { promise: over, resolve } = Promise.withResolvers<FileContent>()
  const timer = setTimeout(() => {
    held.add(path)
    // Nobody waits for it any longer.
    reading.catch(() => undefined)
    resolve(late)
  }, timeLimitMs)
  return Promise.race([reading, over]).finally(() => clearTimeout(timer))
}

async function readNames(directory: string): Promise<DirectoryContent> {
  try {
    return { kind: 'read', names: (await readdir(directory)).sort() }
  } catch (error) {
    return { kind: 'unreadable', ...objectionOf(error, misnamed) }
  }
}

/** Of what the configuration names. */
export const misnamed = 'make it, or mend its name: names are relative to the configuration file'
/** Of what a file within a directory names. */
export const misnamedWithin = 'make it, or mend its name: names are relative to the directory'
const unreadable = 'let the user of this process read it'

const objections = {
  ENOENT: { message: 'does not exist', hint: undefined },
  ENOTDIR: { message: 'is not a directory', hint: undefined },
  EISDIR: { message: 'is a directory', hint: 'name a file in it' },
  EACCES: { message: 'may not be read by this user', hint: unreadable },
  EAGAIN: { message: 'is no regular file', hint: 'name one that is' },
  EPERM: { message: 'may not be read by this user', hint: unreadable },
  ERR_ENCODING_INVALID_ENCODED_DATA: { message: 'is not UTF-8 text', hint: 'save it as UTF-8' },
} as const satisfies Record<string, Pick<Objection, 'message'> & { readonly hint: string | undefined }>

/** `misnamedHint`: what helps when there is nothing of that name. */
function objectionOf(error: unknown, misnamedHint: string): Objection {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  if (Object.hasOwn(objections, code)) {
    const { message, hint = misnamedHint } = objections[code as keyof typeof objections]
    return { message, hint }
  }
  return { message: `cannot be read (${code})`, hint: 'see whether another program can read it' }
}
