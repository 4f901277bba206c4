import { checkAgainstSchema, type SchemaCheck, type Substituted } from './check-against-schema.ts'
import { authorizationGivenOnce, signingHasKey, usableSigningKeys } from './check-auth-and-signing.ts'
import { clientCertificate, usableCertificates } from './check-certificates.ts'
import { comparableValues } from './check-filter-values.ts'
import { lifecycleHasTopic } from './check-lifecycle-has-config-topic.ts'
import { readableFiles } from './check-named-files.ts'
import { policiesWithinLimits } from './check-policies.ts'
import { distinctListeners, scheduleFitsWindow } from './check-schedule-and-listeners.ts'
import { proxyCredentials, rotatesTwoSecrets, secretsGivenOnce } from './check-secrets-given-once-and-in-pairs.ts'
import { distinctProperties, knownNames, uniqueNames, uniqueWebhookLabels } from './check-unique-and-known-names.ts'
import { uniqueOperatorKeys, uniqueWriteKeys } from './check-unique-write-and-operator-keys.ts'
import { allowedHeaders, allowedTargets, httpsUrls, uniqueUrls } from './check-urls-and-headers.ts'
import type { Rule } from './configuration-rule.ts'
import { toSettings } from './configuration-to-settings.ts'
import { EntriesAsWritten } from './entries-as-written.ts'
import { type FileContents, type NamedFile, namedFiles } from './named-files-and-content-problems.ts'
import type { Settings } from './settings.ts'
import type { SettingsProblem } from './settings-problem.ts'

/**
 * A configuration that was checked against the schema, and the names of the files that it needs.
 */
export interface Draft {
  readonly files: readonly NamedFile[]
  readonly check: SchemaCheck
  readonly rules: readonly Rule[]
}

export type SettingsResult =
  | { readonly kind: 'accepted'; readonly settings: Settings }
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] }

const rules: readonly Rule[] = [
  uniqueNames,
  distinctProperties,
  uniqueWebhookLabels,
  knownNames,
  readableFiles,
  usableCertificates,
  clientCertificate,
  proxyCredentials,
  rotatesTwoSecrets,
  uniqueWriteKeys,
  uniqueOperatorKeys,
  uniqueUrls,
  allowedTargets,
  httpsUrls,
  allowedHeaders,
  comparableValues,
  authorizationGivenOnce,
  usableSigningKeys,
  signingHasKey,
  scheduleFitsWindow,
  policiesWithinLimits,
  lifecycleHasTopic,
  distinctListeners,
]

/** All rules except `secretsGivenOnce`, because this rule also needs the unchecked document. */
export { rules as configurationRules }

/**
 * The first step from a document to settings: checks the document against the schema. `substituted`
 * lists the values that come from environment variables.
 */
export function draftFrom(input: unknown, substituted: Substituted = new Map()): Draft {
  const check = checkAgainstSchema(input, substituted)
  return { check, files: namedFiles(check.wellFormed), rules: [...rules, secretsGivenOnce(input)] }
}

/**
 * The second step from a document to settings: checks the rules. `files` has the contents of the
 * files that the draft names.
 */
export function settingsFrom(draft: Draft, files: FileContents): SettingsResult {
  const { problems, wellFormed, configuration } = draft.check
  const all = [...problems, ...draft.rules.flatMap(rule => rule(wellFormed, files))]
  if (configuration === undefined || all.length > 0) return { kind: 'refused', problems: all }
  const { keys, encryptionKeyFile } = configuration.operator
  const isShown = keys.length > 0 || encryptionKeyFile !== undefined
  const settings = toSettings(configuration, files)
  return {
    kind: 'accepted',
    settings: isShown ? { ...settings, entriesAsWritten: new EntriesAsWritten(wellFormed) } : settings,
  }
}
