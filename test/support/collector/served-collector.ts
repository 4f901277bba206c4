import { afterAll, afterEach, beforeAll } from '@jest/globals'
import { basic, type Fields, post } from '../network/http-request-bytes.ts'
import { connect, type WireAnswer } from '../network/raw-http-client.ts'
import { RecordingCollector } from './collector-with-recording-producer.ts'
import { expectAsDocumented } from './openapi-conformance.ts'
import { startCollector } from './raw-request-harness.ts'

export const asWeb: Fields = { Authorization: basic('KEY') }

export const page = (messageId: string, more: object = {}): object => ({
  type: 'page',
  userId: 'u',
  messageId,
  ...more,
})

/**
 * Serves the collector for all tests of a file, without Kafka. Its written records are removed
 * after each test.
 */
export function serveCollector() {
  const collector = new RecordingCollector({ web: 'KEY', app: 'a:b', shop: 'other' })
  let server: Awaited<ReturnType<typeof startCollector>>
  beforeAll(async () => {
    server = await startCollector(collector, { maxBodyBytes: 4_194_304 })
  })
  afterAll(() => server.stop())
  afterEach(() => collector.forget())

  /**
   * Sends a body (text and bytes unchanged, other values as JSON), and checks the response against
   * the OpenAPI document.
   */
  async function exchange(body: unknown, path = '/v1/batch', headers: Fields = asWeb): Promise<WireAnswer> {
    const wire = await connect(server.url)
    const isPlain = typeof body === 'string' || Buffer.isBuffer(body)
    await wire.send(post(path, headers, isPlain ? body : JSON.stringify(body)))
    const answer = await wire.answer()
    wire.reset()
    expectAsDocumented(`POST ${path} HTTP/1.1`, answer)
    return answer
  }
  return { collector, exchange }
}
