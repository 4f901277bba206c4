import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { hostScript } from '../../support/client/kafkajs-unchanged-script.ts'

/*
 * The tests check Node's module cache. They run in child processes, because jest replaces this
 * cache by its own.
 */

const root = resolve(import.meta.dirname, '../../..')
const library = pathToFileURL(resolve(root, 'src/adapters/kafka/kafkajs/load-kafkajs.ts')).href
const internals = pathToFileURL(resolve(root, 'src/adapters/kafka/kafkajs/private-api.ts')).href
/**
 * Encodes a request twice. Hookline's kafkajs must load its own instance of the code of this
 * request, and only once.
 */
const use = `
  const { CompressionCodecs, CompressionTypes } = hookline.loadKafkajs()
  if (CompressionCodecs[CompressionTypes.ZSTD]().compress === undefined) throw new Error('no codecs')
  const { internal } = await import('${internals}')
  const { Encoder } = { Encoder: internal('protocol/encoder') }
  const make = async () => (await internal('protocol/requests/produce/index').protocol({ version: 7 })(
    { acks: -1, timeout: 1, topicData: [{ topic: 't', partitions: [{ partition: 0, messages: [{ key: null, value: null, headers: { name: undefined } }] }] }] },
  )).request.encode()
  if (!((await make()) instanceof Encoder && (await make()) instanceof Encoder)) throw new Error('another instance')
`

async function run(kafkajs: 'before' | 'after' | 'only'): Promise<{ readonly text: string }> {
  const script = hostScript({ library, kafkajs, use })
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  return JSON.parse(stdout) as { text: string }
}

const untouched = { none: 0, sameCache: true, same: true, sameText: true, files: true }

describe("the application's kafkajs is unchanged by the client library", () => {
  it.each(['before', 'after'] as const)('imported %s the client library', async order => {
    const [plain, beside] = [await run('only'), await run(order)]
    expect(beside).toEqual({ ...untouched, text: plain.text })
  })
})
