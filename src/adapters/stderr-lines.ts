import { writeSync } from 'node:fs'

const stderr = 2
/** Time until the next try to write to a full pipe. */
const retryMs = 100
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/**
 * Whether the last write to stderr wrote only the beginning of a line. All writers that
 * `createStderrLines` creates share this value, because they share stderr.
 */
let isLastLineIncomplete = false

/** The lines that were not written since the last successful write. */
export interface LostLines {
  readonly count: number
  /** The code of the last error, for example `ENOSPC`. */
  readonly error: string
}

/**
 * Writes each log line to stderr synchronously. Never throws: if the disk is full, lines are lost.
 * @param onLost called when a write succeeds after lost lines; it may itself write a line
 */
export function createStderrLines(onLost: (lost: LostLines) => void): { write(line: string): void } {
  let count = 0
  let error = ''

  /** Writes the whole text, and waits while stderr is a full pipe. */
  function writeAll(text: string): void {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; ) {
      try {
        written += writeSync(stderr, bytes, written)
      } catch (failure) {
        const { code } = failure as NodeJS.ErrnoException
        if (code !== 'EAGAIN' && code !== 'EBUSY') {
          if (written > 0) isLastLineIncomplete = true
          throw failure
        }
        Atomics.wait(sleeper, 0, 0, retryMs)
      }
    }
    isLastLineIncomplete = false
  }

  return {
    write(line) {
      try {
        writeAll(isLastLineIncomplete ? `\n${line}` : line)
      } catch (failure) {
        count += 1
        error = (failure as NodeJS.ErrnoException).code ?? String(failure)
        return
      }
      if (count === 0) return
      const lost = { count, error }
      count = 0
      onLost(lost)
    },
  }
}
