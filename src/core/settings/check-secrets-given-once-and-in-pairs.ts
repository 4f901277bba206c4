import type { Rule, WellFormed } from './configuration-rule.ts'
import { type Path, type SettingsProblem, valueAt } from './settings-problem.ts'
import { matchingPaths, textSettings } from './settings-that-name-files.ts'

/** A secret must not be set both as text and as a file. Required secrets must be set. */
export const secretsGivenOnce =
  (input: unknown): Rule =>
  config =>
    textSettings.flatMap(({ path: setting, need }) =>
      matchingPaths(config, setting).flatMap((path): readonly SettingsProblem[] => {
        const parent = path.slice(0, -1)
        const key = String(path.at(-1))
        // The schema check has removed values of a wrong type from `config`, so only `input` shows
        // whether the key is set.
        const [own, file] = [key, `${key}File`].map(name => valueAt(input, [...parent, name]) !== undefined)
        if (own && file) {
          const message = `cannot be combined with "${key}"`
          return [{ path: [...parent, `${key}File`], at: 'key', message, hint: 'remove one of them' }]
        }
        if (own || file || need === 'optional' || (need === 'paired' && !hasLogin(config, parent))) return []
        return [{ path, message: 'is missing', hint: `set "${key}" or "${key}File"` }]
      }),
    )

const hasLogin = (config: WellFormed, parent: Path): boolean =>
  ['username', 'usernameFile', 'password', 'passwordFile'].some(key => valueAt(config, [...parent, key]) !== undefined)

/** Checks that the proxy's user name and password are set together. */
export const proxyCredentials: Rule = config => {
  const { username, passwordFile } = config.network?.proxy ?? {}
  if ((username === undefined) === (passwordFile === undefined)) return []
  const [missing, given] = username === undefined ? ['username', 'passwordFile'] : ['passwordFile', 'username']
  const hint = 'set username and passwordFile, or remove both if the proxy needs no authentication'
  return [{ path: ['network', 'proxy', missing], message: `is missing, but "${given}" is set`, hint }]
}

/** Checks that a destination with `secretRotatesAt` has the old and the new secret. */
export const rotatesTwoSecrets: Rule = config =>
  (config.destinations ?? []).flatMap((destination, index): readonly SettingsProblem[] => {
    if (destination?.secretRotatesAt === undefined) return []
    const { sharedSecret = [], sharedSecretFile = [] } = destination
    if ([sharedSecret, sharedSecretFile].flat().length === 2) return []
    const path: Path = ['destinations', index, 'secretRotatesAt']
    const hint = 'list the old and the new shared secret, or remove secretRotatesAt'
    return [{ path, message: 'requires two shared secrets', hint }]
  })
