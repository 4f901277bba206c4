import { expect, it } from '@jest/globals'
import { assertNoSecrets, testSecret } from '../../support/secret-scan/make-and-find-test-secrets.ts'
import {
  assertNoSecretsInAnswer,
  assertNoSecretsPrinted,
  metricsTextOf,
} from '../../support/secret-scan/scan-responses-and-output.ts'
import { OtlpReceiver } from '../../support/telemetry/otlp-receiver.ts'

const secret = testSecret('shown')
const found = "has a secret with 'kept-secret-' in plain text: "

it('names the output and shows the line up to the secret', () => {
  expect(() => assertNoSecrets('the log', `first\nkey=${secret}\n`)).toThrow(`the log ${found}key=…`)
  expect(() => assertNoSecrets('the log', 'no secret')).not.toThrow()
})

it.each<readonly [line: string, body: unknown, headers: Record<string, string>, isRefused: boolean]>([
  ['GET /v1/destinations/crm', { document: { sharedSecret: '***' } }, {}, false],
  ['GET /v1/destinations/crm', { document: { sharedSecret: secret } }, {}, true],
  ['GET /v1/destinations/crm', undefined, { etag: secret }, true],
  ['POST /v1/destinations/crm/rotate-secret', { id: 'crm', secret: 'whsec_new' }, {}, false],
  ['POST /v1/sources/app/rotate-key?x=1', { id: 'app', writeKey: secret }, {}, false],
  ['POST /v1/destinations/crm/rotate-secret', { secret: 'whsec_new', document: { sharedSecret: secret } }, {}, true],
  ['DELETE /v1/destinations/crm', undefined, {}, false],
])('checks the response to %s with the body %j and the headers %j', (line, body, headers, isRefused) => {
  const check = expect(() => assertNoSecretsInAnswer(line, { body, headers: new Headers(headers) }))
  if (isRefused) check.toThrow(`the response to ${line} ${found}`)
  else check.not.toThrow()
})

it.each<readonly [line: string, out: string, err: string, isRefused: boolean]>([
  ['destinations show crm', 'crm ***', '', false],
  ['destinations show crm', secret, '', true],
  ['destinations show crm', '', secret, true],
  ['destinations rotate-secret crm', 'whsec_new', '', false],
  ['sources rotate-key app', 'key', secret, true],
])('checks what hookline %s prints: %j and %j', (line, out, err, isRefused) => {
  const check = expect(() => assertNoSecretsPrinted(line.split(' '), { out, err }))
  if (isRefused) check.toThrow(`the output of hookline ${line} ${found}`)
  else check.not.toThrow()
})

it('reads the metrics of a running process only', async () => {
  const running = new Promise<null>(() => {})
  const ask = async (path: string) => ({ status: 200, text: `from ${path}` })
  expect(await metricsTextOf({ ask, exited: running })).toBe('from /metrics')
  const refused = () => Promise.reject(new Error('connection refused'))
  expect(await metricsTextOf({ ask: refused, exited: running })).toBe('')
  const silent = () => new Promise<never>(() => {})
  expect(await metricsTextOf({ ask: silent, exited: Promise.resolve(null) })).toBe('')
})

it('the receiver of trace data fails at its end when a span has a secret', async () => {
  const receiver = await OtlpReceiver.started()
  const attributes = [{ key: 'url.full', value: { stringValue: `https://crm.example.com/${secret}` } }]
  const resourceSpans = [{ resource: { attributes: [] }, scopeSpans: [{ spans: [{ name: 'POST', attributes }] }] }]
  await fetch(receiver.url, { method: 'POST', body: JSON.stringify({ resourceSpans }) })
  await receiver.until(() => receiver.spans.length === 1)
  await expect(receiver.close()).rejects.toThrow(`the trace data ${found}`)
})
