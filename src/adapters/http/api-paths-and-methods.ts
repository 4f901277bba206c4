import { type CallType, callTypes } from '../../core/message/message.ts'
import { type Switch, switches } from '../../core/operator/objects-api.ts'

export interface TrackingPath {
  readonly path: string
  /**
   * The message type that the path determines. `undefined` if the body is a batch, because its
   * messages contain their types.
   */
  readonly type: CallType | undefined
  readonly usedBy: string
}

const batchPaths: readonly TrackingPath[] = [
  { path: '/v1/batch', usedBy: 'most server SDKs' },
  { path: '/v1/import', usedBy: 'the SDKs for Ruby, Java and .NET, and version 1 of the SDK for Go' },
  { path: '/v1/b', usedBy: 'the SDKs for browsers and mobile apps' },
  { path: '/beacon/v1/batch', usedBy: "RudderStack's SDK for browsers, which sends the write key in the query" },
].map(path => ({ ...path, type: undefined }))

const callPaths: readonly TrackingPath[] = callTypes.flatMap(type => [
  { path: `/v1/${type}`, type, usedBy: 'clients without an SDK' },
  { path: `/v1/${type.charAt(0)}`, type, usedBy: 'the SDK for browsers' },
  { path: `/api/s/${type}`, type, usedBy: "Jitsu's SDK" },
  { path: `/api/s/s2s/${type}`, type, usedBy: "Jitsu's SDK on servers" },
])

export const trackingPaths: readonly TrackingPath[] = [...batchPaths, ...callPaths]

export const settingsPath = '/v1/projects/:writeKey/settings'
export const documentPath = '/openapi.json'
/** The path of the public keys that verify Ed25519 signatures of requests. */
export const keysPath = '/.well-known/hookline-keys.json'
export const deletionsPath = '/v1/regulations'
export const deletionPath = '/v1/regulations/:id'
export const audiencesPath = '/v1/audiences'
export const syncsPath = '/v1/audiences/:name/syncs'
export const destinationsPath = '/v1/destinations'
export const destinationPath = '/v1/destinations/:id'
export const destinationStatusPath = '/v1/destinations/:id/status'
export const rotateSecretPath = '/v1/destinations/:id/rotate-secret'
export const testPath = '/v1/destinations/:id/test'
export const previewPath = '/v1/destinations/:id/preview'
export const switchPath = (to: Switch): string => `/v1/destinations/:id/${to}`
export const sourcesPath = '/v1/sources'
export const sourcePath = '/v1/sources/:id'
export const rotateKeyPath = '/v1/sources/:id/rotate-key'
export const changesPath = '/v1/changes'
export const statusPath = '/v1/status'
export const messagePath = '/v1/messages/:id'
export const deadLettersPath = '/v1/dead-letters'
export const deadLetterPath = '/v1/dead-letters/:key'
export const jobsPaths = { replay: '/v1/replays', resend: '/v1/resends' } as const
export const jobPaths = { replay: '/v1/replays/:id', resend: '/v1/resends/:id' } as const
export const sessionPath = '/v1/session'
export const consolePath = '/console'
export const ledgerPath = '/v1/ledger'

const reading = 'GET, HEAD, OPTIONS'
const writing = 'OPTIONS, POST'
export const everyMethod = 'GET, HEAD, OPTIONS, POST'
const methodsByPath = new Map([...trackingPaths.map(({ path }) => [path, writing] as const), [documentPath, reading]])
const operatorMethods = [
  [/^\/v1\/regulations$/, writing],
  [/^\/v1\/regulations\/[^/]+$/, reading],
  [/^\/v1\/audiences\/[^/]+\/syncs$/, writing],
] as const
const changing = 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT'
/** The paths that only the listener of the operator API has, with their methods. */
const operatorListenerMethods = [
  [/^\/v1\/(audiences|destinations|sources|changes|status|dead-letters|ledger)$/, reading],
  [/^\/v1\/(messages|dead-letters)\/[^/]+$/, reading],
  [/^\/v1\/(destinations|sources)\/[^/]+$/, changing],
  [/^\/v1\/destinations\/[^/]+\/status$/, reading],
  [new RegExp(`^/v1/destinations/[^/]+/(${switches.join('|')}|rotate-secret|test|preview)$`), writing],
  [/^\/v1\/sources\/[^/]+\/rotate-key$/, writing],
  [/^\/v1\/(replays|resends)$/, 'GET, HEAD, OPTIONS, POST'],
  [/^\/v1\/(replays|resends)\/[^/]+$/, 'DELETE, GET, HEAD, OPTIONS'],
] as const

/**
 * The methods of a path for the header `Allow`; `undefined` when the path does not exist. `url` is
 * the URL in the request line.
 */
export function methodsOf(url: string): string | undefined {
  const path = pathOf(url)
  if (/^\/v1\/projects\/[^/]+\/settings$/.test(path)) return reading
  return methodsByPath.get(path) ?? operatorMethodsAt(path)
}

/** Like `methodsOf`, for the listener of the operator API. */
export function operatorMethodsOf(url: string): string | undefined {
  const path = pathOf(url)
  if (path === documentPath || path === keysPath || path === '/' || isConsolePath(path)) return reading
  if (path === sessionPath) return 'DELETE, GET, HEAD, OPTIONS, POST'
  return operatorMethodsAt(path) ?? operatorListenerMethods.find(([pattern]) => pattern.test(path))?.[1]
}

/** Whether the path belongs to the operator API, which responds without CORS headers. */
export const isOperatorUrl = (url: string): boolean => operatorMethodsAt(pathOf(url)) !== undefined

const isConsolePath = (path: string): boolean => path === consolePath || path.startsWith(`${consolePath}/`)

const operatorMethodsAt = (path: string): string | undefined =>
  operatorMethods.find(([pattern]) => pattern.test(path))?.[1]

/** The path as the router sees it: without query, repeated slashes and final slash. */
function pathOf(url: string): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}
