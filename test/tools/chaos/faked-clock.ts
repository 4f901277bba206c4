import { access, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Paths of Debian's package `libfaketime`, by architecture. */
const libraries = ['x86_64', 'aarch64'].map(machine => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)

const offsetFile = (directory: string): string => join(directory, 'clock-offset')

/**
 * Returns environment variables with which `setClock` can change the wall clock of processes, but
 * not their monotonic clock.
 * @throws without libfaketime
 */
export async function ownClock(directory: string): Promise<NodeJS.ProcessEnv> {
  await setClock(directory, 0)
  return {
    LD_PRELOAD: await installed(),
    FAKETIME_TIMESTAMP_FILE: offsetFile(directory),
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    // Seconds for which libfaketime caches the file.
    FAKETIME_CACHE_DURATION: '1',
  }
}

/**
 * Environment of a process whose wall clock is wrong by `seconds`.
 * @throws when libfaketime is not installed
 */
export const clockOffBy = async (seconds: number): Promise<NodeJS.ProcessEnv> => ({
  LD_PRELOAD: await installed(),
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})

/**
 * Makes the wall clock wrong by `seconds`. The rename keeps processes from reading a partial file.
 */
export async function setClock(directory: string, seconds: number): Promise<void> {
  const file = offsetFile(directory)
  await writeFile(`${file}.next`, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  await rename(`${file}.next`, file)
}

async function installed(): Promise<string> {
  for (const library of libraries)
    if (
      await access(library).then(
        () => true,
        () => false,
      )
    )
      return library
  throw new Error(`install the package libfaketime: there is no ${libraries.join(' or ')}`)
}
