import { type Rule, repeated } from './configuration-rule.ts'
import { secretFrom } from './named-files-and-content-problems.ts'
import type { Path, SettingsProblem } from './settings-problem.ts'

/** Checks that no write key is used twice. */
export const uniqueWriteKeys: Rule = (config, files): readonly SettingsProblem[] =>
  repeated(
    (config.sources ?? []).flatMap((source, index) => [
      ...keysAtPath(['sources', index, 'writeKey'], source?.writeKey, key => key),
      ...keysAtPath(['sources', index, 'writeKeyFile'], source?.writeKeyFile, name => secretFrom(name, files)),
    ]),
    'is used as a write key more than once',
  )

/** Returns the write keys of one value or of a list, each with its path. */
function keysAtPath(
  path: Path,
  given: string | readonly (string | undefined)[] | undefined,
  keyOf: (text: string) => string | undefined,
): readonly { readonly path: Path; readonly name: string | undefined }[] {
  const entry = (at: Path, text: string | undefined) => ({
    path: at,
    name: text === undefined ? undefined : keyOf(text),
  })
  return typeof given === 'object' ? given.map((text, place) => entry([...path, place], text)) : [entry(path, given)]
}

/**
 * Two entries must not have the same operator key, because the key identifies the operator in the
 * audit log. The keys of one entry may be equal.
 */
export const uniqueOperatorKeys: Rule = (config, files): readonly SettingsProblem[] =>
  repeated(
    (config.operator?.keys ?? []).flatMap((entry, index) => {
      const own = [entry?.key].flat()
      const inFiles = [entry?.keyFile].flat().map(name => name && secretFrom(name, files))
      const path: Path = ['operator', 'keys', index, entry?.key === undefined ? 'keyFile' : 'key']
      return [...new Set([...own, ...inFiles])].map(name => ({ path, name }))
    }),
    'is also the key of another entry of operator.keys',
  )
