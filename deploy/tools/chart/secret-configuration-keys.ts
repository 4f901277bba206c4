import { textSettings } from '../../../src/core/settings/settings-that-name-files.ts'

/**
 * The keys of the configuration whose text is a secret, as paths without the positions of list
 * entries: `sources.writeKey`. Headers are not included: their names are not in the schema, and
 * only some of their values are secrets.
 */
export const secretKeys = textSettings
  .filter(({ path, holds }) => holds !== 'certificates' && holds !== 'url' && !path.endsWith('.username'))
  .map(({ path }) => path.replaceAll('.*', ''))
