import { textSettings } from '../../../src/core/settings/settings-that-name-files.ts'

/**
 * Paths of configuration keys whose text is a secret, without positions in lists:
 * `sources.writeKey`. Headers are not included, because only some are secrets.
 */
export const secretKeys = textSettings
  .filter(({ path, holds }) => holds !== 'certificates' && holds !== 'url' && !path.endsWith('.username'))
  .map(({ path }) => path.replaceAll('.*', ''))
