import { assertNoSecretsInAnswer } from '../secret-scan/scan-responses-and-output.ts'
import { operatorKey, readKey } from './scripted-deletion-and-audience-api.ts'
import type { startOperator } from './server.ts'

interface Given {
  readonly as?: 'operate' | 'read' | 'nobody'
  readonly ifMatch?: string | number
  readonly ifNoneMatch?: string
}

export interface ObjectAnswer {
  readonly status: number
  readonly etag: string | null
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many forms.
  readonly body: any
  readonly headers: Headers
}

/**
 * Sends a request of an operator. @throws when the response contains a secret, except the new
 * secret of a rotation
 */
export async function askObjects(
  { url }: Pick<Awaited<ReturnType<typeof startOperator>>, 'url'>,
  line: string,
  body?: unknown,
  { as = 'operate', ifMatch, ifNoneMatch }: Given = {},
): Promise<ObjectAnswer> {
  const [method = 'GET', path = '/'] = line.split(' ')
  const key = { operate: operatorKey, read: readKey, nobody: undefined }[as]
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(ifMatch !== undefined && { 'if-match': typeof ifMatch === 'number' ? `"${ifMatch}"` : ifMatch }),
      ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const { status, headers } = response
  const answer = { status, etag: headers.get('etag'), body: text === '' ? undefined : JSON.parse(text), headers }
  assertNoSecretsInAnswer(line, answer)
  return answer
}
