import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { RecordingCollector } from '../../support/collector/collector-with-recording-producer.ts'
import { startCollector } from '../../support/collector/raw-request-harness.ts'

const root = new URL('../../../', import.meta.url)
const manual = readFileSync(new URL('docs/how-to/point-an-sdk-at-hookline.md', root), 'utf8')
const blocks = [...manual.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => {
  const [, name = ''] = / from '([^']+)'/.exec(code) ?? []
  return { name, code }
})

const collector = new RecordingCollector({ web: 'WRITE_KEY' })
let server: Awaited<ReturnType<typeof startCollector>>
beforeAll(async () => {
  server = await startCollector(collector)
})
afterAll(() => server.stop())
afterEach(() => collector.forget())

describe('docs/how-to/point-an-sdk-at-hookline.md', () => {
  it('has the SDKs for Node', () => {
    expect(blocks.map(({ name }) => name)).toEqual([
      '@segment/analytics-node',
      'analytics-node',
      '@rudderstack/rudder-sdk-node',
      '@customerio/cdp-analytics-node',
      '@jitsu/js',
    ])
  })

  it.each(blocks)('has a working example for $name', async ({ code }) => {
    const words = ['--input-type=module', '-e', code.replaceAll('https://events.example.com', server.url)]
    await promisify(execFile)(process.execPath, words, { cwd: root.pathname, timeout: 150_000 })
    expect(collector.messages().at(-1)).toMatchObject({
      type: 'track',
      userId: 'u-17',
      event: 'Order Completed',
      properties: '{"total":39.9}',
    })
  })
})
