import type { Objection } from '../../core/invalid-value-message-and-hint.ts'

/** Maximum number of files in one directory of `destinationsFrom`. */
export const maxFiles = 2_000
/**
 * Maximum numbers of YAML tokens. Parsing and validating a token blocks the process for 10 to 70
 * µs. A destination with the largest filter has about 15,000 tokens.
 */
const maxTokensPerFile = 20_000
const maxTokensPerDirectory = 200_000

const tokens = 'YAML tokens (words, punctuation marks and spaces)'
const move = 'remove files from this directory, or move some files to another directory of "destinationsFrom"'

export const tooManyFiles: Objection = {
  message: `is not read, because its directory has more than ${maxFiles} files; the files after it in alphabetical order are not read either`,
  hint: move,
}
const fileTooLong: Objection = {
  message: `has more than ${maxTokensPerFile} ${tokens}`,
  hint: 'check that this is the right file',
}
const directoryTooLong: Objection = {
  message: `cannot be read completely, because the files of its directory have more than ${maxTokensPerDirectory} ${tokens} in total`,
  hint: move,
}

/** Counts a token. Returns an objection when the file or its directory has too many. */
export type CountToken = () => Objection | undefined

/**
 * Limits the tokens of one directory. Each call of the returned function returns the counter of one
 * file.
 */
export function limitTokens(): () => CountToken {
  let ofDirectory = 0
  return () => {
    let ofFile = 0
    return () => {
      if (++ofFile > maxTokensPerFile) return fileTooLong
      return ++ofDirectory > maxTokensPerDirectory ? directoryTooLong : undefined
    }
  }
}
