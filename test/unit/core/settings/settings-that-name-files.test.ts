import { expect, it } from '@jest/globals'
import { z } from 'zod'
import { configuration } from '../../../../src/core/settings/schema-of-configuration.ts'
import { textSettings } from '../../../../src/core/settings/settings-that-name-files.ts'

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

/** The paths of all keys in the schema for which a key with the suffix `File` exists. */
function pathsIn({ properties = {}, items }: Node): readonly string[] {
  return [
    ...Object.keys(properties).filter(key => `${key}File` in properties),
    ...Object.entries(properties).flatMap(([key, node]) => pathsIn(node).map(path => `${key}.${path}`)),
    ...(items === undefined ? [] : pathsIn(items).map(path => `*.${path}`)),
  ]
}

it('lists every key that can be set as text or as a file', () => {
  const paths = pathsIn(z.toJSONSchema(configuration, { io: 'input' }) as Node)
  expect(textSettings.map(({ path }) => path).toSorted()).toEqual(paths.toSorted())
})
