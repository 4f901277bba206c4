import type { Objection } from '../invalid-value-message-and-hint.ts'
import { classifyAddress, literalAddress, objectionTo, parseCidr, portAllowed } from '../network/allowed-addresses.ts'
import { isPlainHttp, parseUrl, portOf, refuseUrl, urlIdentity } from '../network/url.ts'
import { revealed } from '../secret.ts'
import { type Rule, repeated, type WellFormed } from './configuration-rule.ts'
import { type FileContents, secretFrom } from './named-files-and-content-problems.ts'
import { refuseHeader, refuseHeaders } from './refuse-header.ts'
import type { Destination } from './settings.ts'
import type { Path, SettingsProblem } from './settings-problem.ts'

interface Target {
  readonly path: Path
  readonly url: URL
}

/** The valid URLs of each destination's webhooks. */
const targetsOf = (config: WellFormed, files: FileContents): readonly (readonly Target[])[] =>
  (config.destinations ?? []).map((destination, index) =>
    (destination?.webhooks ?? []).flatMap((webhook, position): readonly Target[] => {
      const text = webhook?.url ?? secretFrom(webhook?.urlFile, files)
      const url = text === undefined || refuseUrl(text) !== undefined ? undefined : parseUrl(text)
      const key = webhook?.url === undefined ? 'urlFile' : 'url'
      return url === undefined ? [] : [{ path: ['destinations', index, 'webhooks', position, key], url }]
    }),
  )

/** The valid token URLs of the destinations. */
const tokenTargetsOf = (config: WellFormed): readonly Target[] =>
  (config.destinations ?? []).flatMap((destination, index): readonly Target[] => {
    const text = destination?.auth?.oauth2?.tokenUrl
    const url = text === undefined || refuseUrl(text) !== undefined ? undefined : parseUrl(text)
    return url === undefined ? [] : [{ path: ['destinations', index, 'auth', 'oauth2', 'tokenUrl'], url }]
  })

/**
 * Checks that no two webhooks of a destination have the same URL, because the endpoint would get
 * each event twice.
 */
export const uniqueUrls: Rule = (config, files) =>
  targetsOf(config, files).flatMap(targets =>
    repeated(
      targets.map(({ path, url }) => ({ path, name: urlIdentity(url) })),
      'is also the URL of another webhook of this destination',
    ),
  )

/** The valid URLs of webhooks and of token endpoints. */
const everyTarget = (config: WellFormed, files: FileContents): readonly Target[] => [
  ...targetsOf(config, files).flat(),
  ...tokenTargetsOf(config),
]

/** Checks IP addresses and ports of URLs. Host names are checked when a request is sent. */
export const allowedTargets: Rule = (config, files) => {
  const { allow = [], ports } = config.network ?? {}
  const blocks = allow.flatMap(text => (text === undefined ? [] : (parseCidr(text) ?? [])))
  const open = ports?.filter(port => port !== undefined)
  return everyTarget(config, files).flatMap(({ path, url }): readonly SettingsProblem[] => {
    const address = literalAddress(url)
    const verdict = address === undefined ? undefined : classifyAddress(address, blocks)
    const forbidden = address !== undefined && verdict?.kind === 'forbidden' ? [objectionTo(address, verdict)] : []
    const port = portOf(url)
    const message = `port ${port} is not allowed`
    const hint =
      open === undefined
        ? `allowed: 80, 443 and any port from 1024; to permit ${port}, set network.ports to all ports that webhooks need`
        : `allowed: ${open.join(', ')}; to permit ${port}, add it to network.ports`
    const closed = portAllowed(port, open) ? [] : [{ message, hint }]
    return [...forbidden, ...closed].map(refusal => ({ path, ...refusal }))
  })
}

/** If `network.httpsOnly` is true, checks that no URL begins with http://. */
export const httpsUrls: Rule = (config, files) =>
  config.network?.httpsOnly === true
    ? everyTarget(config, files)
        .filter(({ url }) => isPlainHttp(url.href))
        .map(({ path }) => ({
          path,
          message: 'begins with http://, which "network.httpsOnly: true" does not allow',
          hint: 'use an https:// URL, or set network.httpsOnly to false',
        }))
    : []

/** Whether a destination has a URL that `httpsUrls` refuses. */
export const hasPlainUrl = ({ webhooks, auth }: Destination): boolean =>
  [...webhooks.map(({ url }) => revealed(url)), auth?.oauth2?.tokenUrl ?? ''].some(isPlainHttp)

export const allowedHeaders: Rule = (config, files) =>
  (config.destinations ?? []).flatMap((destination, index) =>
    (destination?.webhooks ?? []).flatMap((webhook, position) =>
      headerProblems(
        ['destinations', index, 'webhooks', position, 'headers'],
        Object.entries(webhook?.headers ?? {}).flatMap(([name, value]) => {
          // `readableFiles` already reports files that cannot be read.
          const text = typeof value === 'object' ? secretFrom(value.file, files) : value
          return text === undefined ? [] : [[name, text] as const]
        }),
        webhook?.traceHeaders,
      ),
    ),
  )

function headerProblems(
  path: Path,
  given: readonly (readonly [name: string, value: string])[],
  sendsTrace = false,
): readonly SettingsProblem[] {
  const single = given.flatMap(([name, value]): readonly SettingsProblem[] => {
    const refusal = refuseHeader(name, value) ?? (sendsTrace ? refuseBesideTrace(name) : undefined)
    return refusal === undefined ? [] : [{ path: [...path, name], at: 'key', ...refusal }]
  })
  if (single.length > 0) return single
  const sameName = repeated(
    given.map(([name]) => ({ path: [...path, name], name: name.toLowerCase() })),
    'has the same name as another header of this webhook',
  )
  if (sameName.length > 0) {
    const hint = 'remove one of the two headers: header names that differ only in case are the same name'
    return sameName.map((problem): SettingsProblem => ({ ...problem, at: 'key', hint }))
  }
  const together = refuseHeaders(Object.fromEntries(given))
  return together === undefined ? [] : [{ path, ...together }]
}

function refuseBesideTrace(name: string): Objection | undefined {
  return /^trace(parent|state)$/i.test(name)
    ? {
        message: `header ${JSON.stringify(name)} is already set by "traceHeaders: true"`,
        hint: 'remove this header or traceHeaders',
      }
    : undefined
}
