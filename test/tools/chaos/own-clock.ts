import { access, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Of Debian's package `libfaketime`, by machine as Debian names it. */
const libraries = ['x86_64', 'aarch64'].map(machine => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)

const offsetFile = (directory: string): string => join(directory, 'clock-offset')

/**
 * The environment of processes whose wall clock follows a file. Their monotonic clock stays the machine's: timers go on as they did, as
 * when the clock of a real machine is set. @throws when libfaketime is not installed
 */
export async function ownClock(directory: string): Promise<NodeJS.ProcessEnv> {
  await setClock(directory, 0)
  return {
    LD_PRELOAD: await installed(),
    FAKETIME_TIMESTAMP_FILE: offsetFile(directory),
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    // Seconds for which it does not look at the file again.
    FAKETIME_CACHE_DURATION: '1',
  }
}

/** The environment of a process whose wall clock is so many seconds off from its start on. @throws when libfaketime is not installed */
export const clockOffBy = async (seconds: number): Promise<NodeJS.ProcessEnv> => ({
  LD_PRELOAD: await installed(),
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})

/** Their wall clock is so many seconds off from now on. By rename: a file that is half written would be no time at all. */
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
  throw new Error(`a clock of its own needs the package libfaketime: none of ${libraries.join(', ')} is there`)
}
