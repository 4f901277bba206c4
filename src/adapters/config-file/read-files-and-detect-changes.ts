import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import type { Objection } from '../../core/invalid-value-message-and-hint.ts'
import type { FileContent } from '../../core/settings/named-files-and-content-problems.ts'
import { maxFiles } from './directory-limits.ts'

type Unreadable = Objection & { readonly kind: 'unreadable' }

export type DirectoryContent = { readonly kind: 'read'; readonly names: readonly string[] } | Unreadable

/** All files and directories that a configuration consists of. */
export interface ConfigSnapshot {
  /**
   * Reads a file. If `within` names a directory, a file outside of it counts as unreadable, even if
   * a link in the directory leads to the file.
   */
  text(path: string, within?: string): Promise<FileContent>
  /**
   * The sorted names of the configuration files of a directory. Names that begin with a dot are
   * skipped, for example `..data` of a mounted ConfigMap and swap files of editors.
   */
  names(directory: string): Promise<DirectoryContent>
  /** All paths that were read, successfully or not. */
  paths(): readonly string[]
  /** Reads everything again, and returns whether the contents are the same. */
  unchanged(): Promise<boolean>
  /**
   * The digest of each content. A key consists of the argument `within` (empty if not given), a
   * NUL, and the path.
   */
  readonly digests: ReadonlyMap<string, string>
  /**
   * Whether a file or directory counted as unreadable only because it has changed since the
   * previous snapshot.
   */
  isPartial(): boolean
}

/** Maximum bytes of a file: far above any configuration, and too few to exhaust the memory. */
const maxFileBytes = 8 * 1_048_576
/**
 * Maximum bytes of a `destinationsFrom` file and of each file that it names. A destination with
 * five webhooks and the maximum of headers has 50 KB.
 */
const maxNestedFileBytes = 262_144

/**
 * Creates a snapshot. `previous` has the digests of an earlier snapshot. A file or directory that
 * is new or has changed since then may be incomplete, so it counts as unreadable.
 */
export function createConfigSnapshot(previous?: ConfigSnapshot['digests']): ConfigSnapshot {
  const seen = new Map<string, { readonly path: string; readonly same: () => Promise<boolean> }>()
  // The contents may contain secrets, so only digests are kept.
  const digests = new Map<string, string>()
  let isPartial = false

  async function read<T>(path: string, from: () => Promise<T>, within = ''): Promise<T | Unreadable> {
    const key = `${within}\0${path}`
    const content = await from()
    const digest = digestOf(content)
    seen.set(key, { path, same: async () => digestOf(await from()) === digest })
    digests.set(key, digest)
    if (previous === undefined || previous.get(key) === digest) return content
    isPartial = true
    return changedSinceLastCheck
  }

  return {
    async text(path, within) {
      const content = await read(path, () => readText(path, within), within)
      // The first file that is read (`seen.size === 1`) is the configuration file. It has changed
      // since the previous snapshot and may be incomplete, so no other file is read now. Keep the
      // previous digests of the other files, so that the next snapshot can compare with them.
      if (content === changedSinceLastCheck && seen.size === 1)
        for (const [key, digest] of previous ?? []) if (!digests.has(key)) digests.set(key, digest)
      return content
    },
    async names(directory) {
      let found: DirectoryContent | undefined
      const content = await read(directory, async () => {
        found = await readNames(directory)
        return found
      })
      if (content !== changedSinceLastCheck) return content
      // The directory has changed, so this snapshot does not use its files. Store the digests of
      // these files, and keep those of their secret files. Otherwise all of them would count as new
      // in the next snapshot.
      const names = found?.kind === 'read' ? found.names.slice(0, maxFiles) : undefined
      const isListed = (file: string): boolean =>
        names !== undefined && isConfigFile(basename(file)) && file === join(directory, basename(file))
      for (const [key, digest] of previous ?? []) {
        const [within, file = ''] = key.split('\0')
        if (within === directory && !isListed(file)) digests.set(key, digest)
      }
      for (const name of names ?? []) {
        const file = join(directory, name)
        digests.set(`${directory}\0${file}`, digestOf(await readText(file, directory)))
      }
      return content
    },
    paths: () => [...new Set([...seen.values()].map(({ path }) => path))],
    async unchanged() {
      for (const { same } of seen.values()) if (!(await same())) return false
      return true
    },
    digests,
    isPartial: () => isPartial,
  }
}

const changedSinceLastCheck = {
  kind: 'unreadable',
  message: 'changed since the last check, so Hookline does not use its new content yet',
  hint: 'write to this path only when the configuration changes, and not every few seconds',
} as const

const digestOf = (content: unknown): string => createHash('sha256').update(JSON.stringify(content)).digest('base64')

async function readText(path: string, within?: string): Promise<FileContent> {
  try {
    return await withinTime(within ?? path, () => readRegular(path, within))
  } catch (error) {
    return { kind: 'unreadable', ...objectionOf(error, within === undefined ? missingFileHint : missingNestedFileHint) }
  }
}

async function readRegular(path: string, within?: string): Promise<FileContent> {
  const limit = within === undefined ? maxFileBytes : maxNestedFileBytes
  // Without O_NONBLOCK, opening a pipe or reading the kernel log would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    if (found.isDirectory()) return { kind: 'unreadable', ...objections.EISDIR }
    if (!found.isFile()) return { kind: 'unreadable', ...objections.EAGAIN }
    if (within !== undefined && !(await isWithin(path, within, found))) {
      return {
        kind: 'unreadable',
        message: 'is outside the directory of this destination (see "destinationsFrom")',
        hint: 'move the file itself into that directory; a link to the file does not work',
      }
    }
    // The additional byte shows that a file is longer than its reported size or the limit, for
    // example a special file that reports size 0 and never ends.
    const bytes = Buffer.allocUnsafe(Math.min(found.size, limit) + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length)
      length += bytesRead
      if (bytesRead === 0 || length === bytes.length) break
    }
    if (length > limit) {
      return { kind: 'unreadable', message: `is larger than ${limit} bytes`, hint: 'check that this is the right file' }
    }
    if (length > found.size) {
      return {
        kind: 'unreadable',
        message: 'contains more bytes than the file system reports as its size',
        hint: 'use a regular file on a disk, not a file of /proc or /sys',
      }
    }
    return { kind: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length)) }
  } finally {
    await file.close()
  }
}

/**
 * Whether the opened file is below the directory. Compares inode and device, because a link may
 * have changed since the file was opened.
 */
async function isWithin(path: string, directory: string, opened: Stats): Promise<boolean> {
  const root = await realpath(directory)
  const file = await realpath(path)
  const named = await stat(file)
  return file.startsWith(`${root}${sep}`) && named.ino === opened.ino && named.dev === opened.dev
}

/**
 * Maximum time, in ms, to read a file or directory. An unavailable network disk blocks the read and
 * its thread.
 */
const timeLimitMs = 5_000

/**
 * Maximum number of reads that still block a thread after the time limit. Node's thread pool has
 * four threads, and deliveries need one of them to resolve host names and to decompress.
 */
const maxBlockingReads = 3
/**
 * Paths whose reads still block a thread after the time limit. For a file of a `destinationsFrom`
 * directory, this is the path of the directory. Hookline begins no other read with the same path
 * until the blocking read ends.
 */
const blockedPaths = new Set<string>()

const hint = 'check that the disk or network drive of this path responds'
const readTimedOut = { kind: 'unreadable', message: 'could not be read within 5 s', hint } as const
const readSkipped = {
  kind: 'unreadable',
  message: 'was skipped, because reads of other files or directories still hang after 5 s',
  hint: 'check that the disks or network drives of the configuration respond',
} as const

async function withinTime<T>(path: string, read: () => Promise<T>): Promise<T | Unreadable> {
  if (blockedPaths.has(path)) return readTimedOut
  if (blockedPaths.size >= maxBlockingReads) return readSkipped
  const reading = read()
  const { promise: over, resolve } = Promise.withResolvers<Unreadable>()
  const timer = setTimeout(() => {
    blockedPaths.add(path)
    const end = (): boolean => blockedPaths.delete(path)
    // The caller no longer waits for this read, so its error is ignored.
    reading.then(end, end)
    resolve(readTimedOut)
  }, timeLimitMs)
  return Promise.race([reading, over]).finally(() => clearTimeout(timer))
}

const isConfigFile = (name: string): boolean => /^[^.].*\.(yaml|yml|json)$/.test(name)

async function readNames(directory: string): Promise<DirectoryContent> {
  try {
    return await withinTime(
      directory,
      async () => ({ kind: 'read', names: (await readdir(directory)).filter(isConfigFile).sort() }) as const,
    )
  } catch (error) {
    return { kind: 'unreadable', ...objectionOf(error, missingFileHint) }
  }
}

/** Hint for a missing file that the configuration file names. */
export const missingFileHint =
  'create it, or correct its name: names are relative to the directory of the configuration file'
/** Hint for a missing file that a `destinationsFrom` file names. */
export const missingNestedFileHint =
  'create it, or correct its name: names are relative to the directory of the file with this error'
const unreadable = 'give read permission to the operating system user that runs hookline'

const objections = {
  ENOENT: { message: 'does not exist', hint: undefined },
  ENOTDIR: {
    message: 'cannot be opened: a part of the path is a file, not a directory',
    hint: 'correct the path, or replace that file with a directory',
  },
  EISDIR: { message: 'is a directory', hint: 'use a file instead' },
  EACCES: { message: 'cannot be read: permission denied', hint: unreadable },
  EAGAIN: { message: 'is not a regular file', hint: 'use a regular file, not a pipe, socket or device' },
  EPERM: { message: 'cannot be read: permission denied', hint: unreadable },
  ERR_ENCODING_INVALID_ENCODED_DATA: { message: 'is not UTF-8 text', hint: 'save it as UTF-8' },
} as const satisfies Record<string, Pick<Objection, 'message'> & { readonly hint: string | undefined }>

/** Converts a file system error to a problem. `misnamedHint` is for a missing path. */
function objectionOf(error: unknown, misnamedHint: string): Objection {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  if (Object.hasOwn(objections, code)) {
    const { message, hint = misnamedHint } = objections[code as keyof typeof objections]
    return { message, hint }
  }
  return {
    message: `cannot be read: ${code}`,
    hint: 'try to read the file with another program, for example `cat`; if that also fails, check the path and the disk',
  }
}
