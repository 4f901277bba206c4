import type { Pruned } from './check-against-schema.ts'
import type { FileContents } from './named-files-and-content-problems.ts'
import type { ConfigurationInput } from './schema-of-configuration.ts'
import type { Path, SettingsProblem } from './settings-problem.ts'

export type WellFormed = Pruned<ConfigurationInput>

/** A check that the schema cannot do. `config` has only values of the right type. */
export type Rule = (config: WellFormed, files: FileContents) => readonly SettingsProblem[]

interface Named {
  readonly path: Path
  readonly name: string | undefined
}

/** Reports each entry that has the name of an earlier one. */
export function repeated(entries: readonly Named[], message: string): readonly SettingsProblem[] {
  const seen = new Map<string, Path>()
  return entries.flatMap(({ path, name }) => {
    if (name === undefined) return []
    const first = seen.get(name)
    if (first !== undefined) return [{ path, message, first }]
    seen.set(name, path)
    return []
  })
}
