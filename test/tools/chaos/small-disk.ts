import { execFile } from 'node:child_process'
import { mkdir, open, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Disk {
  fill(): Promise<void>
  free(): Promise<void>
  close(): Promise<void>
}

/**
 * Mounts a disk in memory at `mounted`, and links `place` to it.
 * @throws unless it runs as root on Linux
 */
export async function mountDisk(mounted: string, place: string, megabytes: number): Promise<Disk> {
  await mkdir(mounted, { recursive: true })
  await mkdir(dirname(place), { recursive: true })
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mounted])
  } catch (error) {
    throw new Error(`cannot mount a disk; run as root: ${(error as Error).message}`)
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

/** Writes pieces of decreasing size until the last page of the disk is full. */
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
