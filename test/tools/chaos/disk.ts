import { execFile } from 'node:child_process'
import { mkdir, open, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A disk of its own, small enough to be filled. */
export interface Disk {
  /** Takes all that is left of it. */
  fill(): Promise<void>
  /** Gives that back. */
  free(): Promise<void>
  close(): Promise<void>
}

/**
 * A disk in memory of so many megabytes, mounted at a place and linked to from another, below which everything is going to lie on it.
 * @throws when this may not mount anything: it needs root on Linux
 */
export async function mountDisk(mounted: string, place: string, megabytes: number): Promise<Disk> {
  await mkdir(mounted, { recursive: true })
  await mkdir(dirname(place), { recursive: true })
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mounted])
  } catch (error) {
    throw new Error(
      `a disk that can be filled has to be mounted, for which this needs root: ${(error as Error).message}`,
    )
  }
  await symlink(mounted, place)
  const filler = join(mounted, 'filler')
  return {
    async fill() {
      const file = await open(filler, 'a')
      try {
        await fillUp(piece => file.write(piece))
      } finally {
        await file.close()
      }
    },
    free: () => rm(filler, { force: true }),
    async close() {
      await run('umount', [mounted])
      await rm(mounted, { recursive: true, force: true })
    },
  }
}

/** In smaller and smaller pieces, to the last page. */
async function fillUp(write: (piece: Buffer) => Promise<{ bytesWritten: number }>): Promise<void> {
  for (let size = 1 << 20; size >= 1 << 10; size >>= 2) {
    const piece = Buffer.alloc(size)
    try {
      while ((await write(piece)).bytesWritten === size);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}
