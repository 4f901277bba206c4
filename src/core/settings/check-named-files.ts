import type { Rule } from './configuration-rule.ts'
import { contentProblem, namedFiles } from './named-files-and-content-problems.ts'

export const readableFiles: Rule = (config, files) =>
  namedFiles(config).flatMap(({ path, name, holds }) => {
    const refusal = contentProblem(files.get(name), holds)
    return refusal === undefined
      ? []
      : // The name is not shown: a user may have written a secret instead of a file name.
        [{ path, message: `names a file that ${refusal.message}`, hint: refusal.hint }]
  })
