import { type CallType, callTypes } from '../../core/message/message.ts'
import { type Switch, switches } from '../../core/operator/objects-api.ts'

/** A path that accepts messages. */
export interface IngestPath {
  readonly path: string
  /**
   * The type of the one message in the body; a `type` in that message is ignored. `undefined` when
   * the body is a batch.
   */
  readonly type: CallType | undefined
  /** The clients that use this path. */
  readonly usedBy: string
}

const batchPaths: readonly IngestPath[] = [
  { path: '/v1/batch', usedBy: 'most server SDKs' },
  { path: '/v1/import', usedBy: 'the SDKs for Ruby, Java and .NET, and version 1 of the SDK for Go' },
  { path: '/v1/b', usedBy: 'the SDKs for browsers and mobile apps' },
  { path: '/beacon/v1/batch', usedBy: "RudderStack's SDK for browsers, with the write key in the query" },
].map(path => ({ ...path, type: undefined }))

const callPaths: readonly IngestPath[] = callTypes.flatMap(type => [
  { path: `/v1/${type}`, type, usedBy: 'clients without an SDK' },
  { path: `/v1/${type.charAt(0)}`, type, usedBy: 'the SDK for browsers' },
  { path: `/api/s/${type}`, type, usedBy: "Jitsu's SDK" },
  { path: `/api/s/s2s/${type}`, type, usedBy: "Jitsu's SDK on servers" },
])

export const ingestPaths: readonly IngestPath[] = [...batchPaths, ...callPaths]

export const settingsPath = '/v1/projects/:writeKey/settings'
export const documentPath = '/openapi.json'
/** Public keys of the Ed25519 signatures of requests. */
export const keysPath = '/.well-known/hookline-keys.json'
export const deletionsPath = '/v1/regulations'
export const deletionPath = '/v1/regulations/:id'
export const syncsPath = '/v1/audiences/:name/syncs'
export const destinationsPath = '/v1/destinations'
export const destinationPath = '/v1/destinations/:id'
export const destinationStatusPath = '/v1/destinations/:id/status'
export const rotateSecretPath = '/v1/destinations/:id/rotate-secret'
export const testPath = '/v1/destinations/:id/test'
export const switchPath = (to: Switch): string => `/v1/destinations/:id/${to}`
export const sourcesPath = '/v1/sources'
export const sourcePath = '/v1/sources/:id'
export const rotateKeyPath = '/v1/sources/:id/rotate-key'
export const changesPath = '/v1/changes'
export const statusPath = '/v1/status'

const reading = 'GET, HEAD, OPTIONS'
const writing = 'OPTIONS, POST'
const methodsByPath = new Map([...ingestPaths.map(({ path }) => [path, writing] as const), [documentPath, reading]])
const operatorMethods = [
  [/^\/v1\/regulations$/, writing],
  [/^\/v1\/regulations\/[^/]+$/, reading],
  [/^\/v1\/audiences\/[^/]+\/syncs$/, writing],
] as const
const changing = 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT'
/** The paths that only the listener of the operator API has. */
const objectMethods = [
  [/^\/v1\/(destinations|sources|changes|status)$/, reading],
  [/^\/v1\/(destinations|sources)\/[^/]+$/, changing],
  [/^\/v1\/destinations\/[^/]+\/status$/, reading],
  [new RegExp(`^/v1/destinations/[^/]+/(${switches.join('|')}|rotate-secret|test)$`), writing],
  [/^\/v1\/sources\/[^/]+\/rotate-key$/, writing],
] as const

/**
 * The methods of a path, as in `Allow`; `undefined` when the path does not exist. `url` is as in
 * the request line.
 */
export function methodsOf(url: string): string | undefined {
  const path = pathOf(url)
  if (/^\/v1\/projects\/[^/]+\/settings$/.test(path)) return reading
  return methodsByPath.get(path) ?? operatorMethodsAt(path)
}

/** Like `methodsOf`, for the listener of the operator API. */
export function operatorMethodsOf(url: string): string | undefined {
  const path = pathOf(url)
  if (path === documentPath || path === keysPath) return reading
  return operatorMethodsAt(path) ?? objectMethods.find(([pattern]) => pattern.test(path))?.[1]
}

/** Whether the path belongs to the operator API, which responds without CORS headers. */
export const isOperatorUrl = (url: string): boolean => operatorMethodsAt(pathOf(url)) !== undefined

const operatorMethodsAt = (path: string): string | undefined =>
  operatorMethods.find(([pattern]) => pattern.test(path))?.[1]

/** The path as the router sees it: without the query, repeated slashes and the slash at the end. */
function pathOf(url: string): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}
