import { refuseSigningKey } from '../signing/ed25519-signing-key.ts'
import type { Rule, WellFormed } from './configuration-rule.ts'
import type { FileContents } from './named-files-and-content-problems.ts'
import { type Path, type SettingsProblem, valueAt } from './settings-problem.ts'

type GivenDestination = NonNullable<NonNullable<WellFormed['destinations']>[number]>

const ofEach =
  (check: (destination: GivenDestination, path: Path, files: FileContents) => readonly SettingsProblem[]) =>
  (config: WellFormed, files: FileContents): readonly SettingsProblem[] =>
    (config.destinations ?? []).flatMap((destination, index) =>
      destination === undefined ? [] : check(destination, ['destinations', index], files),
    )

/** Checks that no webhook has a static Authorization header in addition to the access token. */
export const authorizationGivenOnce: Rule = ofEach(({ auth, webhooks = [] }, path) => {
  if (auth?.oauth2 === undefined) return []
  return webhooks.flatMap((webhook, position) =>
    Object.keys(webhook?.headers ?? {})
      .filter(name => name.toLowerCase() === 'authorization')
      .map(
        (name): SettingsProblem => ({
          path: [...path, 'webhooks', position, 'headers', name],
          at: 'key',
          message: 'cannot be combined with auth.oauth2, which sets this header',
          hint: 'remove this header or auth.oauth2',
        }),
      ),
  )
})

/** Checks the signing keys that the configuration itself contains, not those in files. */
export const usableSigningKeys: Rule = ofEach(({ signingKey }, path) => {
  const [given, isList] = [[signingKey].flat(), Array.isArray(signingKey)]
  return given.flatMap((text, place): readonly SettingsProblem[] => {
    const refusal = text === undefined ? undefined : refuseSigningKey(text)
    return refusal === undefined ? [] : [{ path: [...path, 'signingKey', ...(isList ? [place] : [])], ...refusal }]
  })
})

/**
 * Checks that a destination with `signing: ed25519` has a private key and the Standard Webhooks
 * headers, which contain the signatures.
 */
export const signingHasKey: Rule = (config, files) =>
  ofEach((destination, path) => {
    const { policy, signingKey, signingKeyFile } = destination
    if (policy?.signing !== 'ed25519') return []
    const at = [...path, 'policy', 'signing']
    const isOn = policy.standardWebhooks ?? valueAt(config, ['payload', 'standardWebhooks']) ?? false
    const off: SettingsProblem = {
      path: at,
      message: '"ed25519" has no effect without the Standard Webhooks headers',
      hint: 'set policy.standardWebhooks: true',
    }
    const without: SettingsProblem = {
      path: at,
      message: '"ed25519" requires a private key',
      hint: 'set signingKey or signingKeyFile',
    }
    const hasKey = signingKey !== undefined || signingKeyFile !== undefined
    return [...(hasKey ? [] : [without]), ...(isOn === true ? [] : [off])]
  })(config, files)
