import { Agent, request } from 'undici'
import type { Manifest } from '../../../deploy/tools/chart/render.ts'

export interface ApiClient {
  /** False if the API server is unreachable. */
  isReady(): Promise<boolean>
  /** Resolves with the answer of any status. */
  ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Answer>
  /**
   * Server-side apply. Unknown and repeated fields are errors. With `dryRun`, the server validates
   * and admits the object, but stores nothing.
   */
  apply(manifest: Manifest, options?: ApplyOptions): Promise<Answer>
  close(): Promise<void>
}

export interface ApplyOptions {
  /** The namespace of an object that names none. Default: `default`. */
  readonly namespace?: string
  readonly dryRun?: boolean
}

export interface Answer {
  readonly status: number
  readonly body: { readonly message?: string; readonly [key: string]: unknown }
  /** The texts of the `Warning` headers, for example of the Pod Security admission. */
  readonly warnings: readonly string[]
}

interface Resource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
}

export function createApiClient({
  url,
  ca,
  token,
}: {
  readonly url: string
  readonly ca: string
  readonly token: string
}): ApiClient {
  const dispatcher = new Agent({ connect: { ca } })
  const resources = new Map<string, readonly Resource[]>()

  async function send(method: string, path: string, type: string, body?: object): Promise<Answer> {
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(`${url}${path}`, {
      dispatcher,
      method: method as 'GET',
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const isJson = String(headers['content-type'] ?? '').includes('json')
    return {
      status: statusCode,
      body: isJson ? JSON.parse(text) : { message: text },
      warnings: warningsIn(headers['warning']),
    }
  }

  /**
   * Returns the resource of an object's kind. If the kind is not known, reads its API group again.
   */
  async function resourceOf({ apiVersion, kind }: Manifest): Promise<Resource> {
    const find = (): Resource | undefined => resources.get(apiVersion)?.find(each => each.kind === kind)
    if (find() === undefined) {
      const { body } = await send('GET', prefixOf(apiVersion), 'application/json')
      const listed = (body['resources'] ?? []) as readonly Resource[]
      // Names with a slash are parts of objects, for example `deployments/status`.
      resources.set(
        apiVersion,
        listed.filter(({ name }) => !name.includes('/')),
      )
    }
    const found = find()
    if (found === undefined) throw new Error(`the API server has no ${apiVersion} ${kind}`)
    return found
  }

  return {
    isReady: () =>
      send('GET', '/readyz', 'application/json').then(
        ({ status }) => status === 200,
        () => false,
      ),
    ask: (method, path, body) => send(method, path, 'application/json', body),
    async apply(manifest, { namespace = 'default', dryRun = false } = {}) {
      const { name, namespaced } = await resourceOf(manifest)
      const place = namespaced ? `/namespaces/${manifest.metadata['namespace'] ?? namespace}` : ''
      const query = `fieldManager=test&force=true&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`
      const path = `${prefixOf(manifest.apiVersion)}${place}/${name}/${manifest.metadata.name}?${query}`
      // The server reads the body as YAML, and JSON is valid YAML.
      return send('PATCH', path, 'application/apply-patch+yaml', manifest)
    },
    close: () => dispatcher.destroy(),
  }
}

/** The path of a group and version: `v1` → `/api/v1`, `apps/v1` → `/apis/apps/v1`. */
export const prefixOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`

/**
 * The texts of `Warning` headers (RFC 7234 §5.5). A header has the form `299 - "text"`, with `\"`
 * for a quotation mark in the text.
 */
export function warningsIn(header: string | readonly string[] | undefined): readonly string[] {
  const text = [header ?? []].flat().join(', ')
  return [...text.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'))
}
