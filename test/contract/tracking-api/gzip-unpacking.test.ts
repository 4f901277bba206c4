import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { BodyOwner } from '../../../src/core/collector/request-body-memory-budget.ts'
import type { BodyMemory } from '../../../src/core/collector/tracking-api.ts'
import {
  expectAnswer,
  expectHealthy,
  problem,
  startCollector,
  taken,
} from '../../support/collector/raw-request-harness.ts'
import { ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { type Fields, post } from '../../support/network/http-request-bytes.ts'
import { connect, type Wire } from '../../support/network/raw-http-client.ts'

type Phase = 'arriving' | 'received' | 'unpacking'

/**
 * Records the phase of each request:
 * - `arriving` until the call of `received`.
 * - `received` until the next call of `take`.
 * - `unpacking` from this call of `take` until the call of `release`.
 */
class ObservingApi extends ScriptedTrackingApi {
  readonly #phases = new Map<BodyMemory, Phase>()
  mostUnpacking = 0
  /** By source or client address: number of accepted requests when its latest body began to arrive. */
  readonly acceptedBefore = new Map<string, number>()

  count(phase: Phase): number {
    return [...this.#phases.values()].filter(each => each === phase).length
  }

  override openBody(owner: BodyOwner, onEvicted: () => void): BodyMemory {
    this.acceptedBefore.set(owner.sourceId ?? owner.address, this.requests.length)
    const memory = super.openBody(owner, onEvicted)
    const observed: BodyMemory = {
      ...memory,
      take: bytes => {
        const phase = this.#phases.get(observed) ?? 'arriving'
        this.#phases.set(observed, phase === 'arriving' ? 'arriving' : 'unpacking')
        this.mostUnpacking = Math.max(this.mostUnpacking, this.count('unpacking'))
        return memory.take(bytes)
      },
      received: () => {
        this.#phases.set(observed, 'received')
        memory.received()
      },
      release: () => {
        this.#phases.delete(observed)
        memory.release()
      },
    }
    return observed
  }
}

const many = 200
const known: Fields = { 'X-Write-Key': 'KEY' }
const addressOf = (last: number): string => `203.0.113.${last}`
const fromAddress = (last: number): Fields => ({ 'X-Forwarded-For': addressOf(last) })
const short = gzipSync(`[${'{},'.repeat(9_990)}{}]`)

/**
 * The bits of an empty deflate block with dynamic Huffman codes: the most expensive block of its
 * size.
 */
function emptyBlock(): string {
  const bits = (value: number, count: number): string => [...value.toString(2).padStart(count, '0')].reverse().join('')
  const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]
  // Not the last block, dynamic codes, 257 literal codes, 1 distance code, 18 code length codes.
  const head = bits(0, 1) + bits(2, 2) + bits(0, 5) + bits(0, 5) + bits(order.length - 4, 4)
  // In the list of code lengths, bit 0 means length 1, and bit 1 means a run of zeros (symbol 18).
  const codes = order.map(symbol => bits(symbol === 18 || symbol === 1 ? 1 : 0, 3)).join('')
  const zeros = (count: number): string => `1${bits(count - 11, 7)}`
  return `${head}${codes}${zeros(138)}${zeros(118)}000`
}

/** A gzip body that begins with about `bytes` bytes of empty blocks, and unpacks to `text`. */
function manyBlocks(bytes: number, text: string): Buffer {
  const unit = emptyBlock().repeat(4)
  const octets = unit.match(/.{8}/g) ?? []
  const blocks = Buffer.from(octets.map(octet => Number.parseInt([...octet].reverse().join(''), 2)))
  const packed = gzipSync(text)
  return Buffer.concat([
    packed.subarray(0, 10),
    Buffer.alloc(bytes - (bytes % blocks.length), blocks),
    packed.subarray(10),
  ])
}

describe('many gzip bodies that are complete at the same time', () => {
  let api: ObservingApi
  let collector: Awaited<ReturnType<typeof startCollector>>
  const wires: Wire[] = []
  beforeAll(async () => {
    api = new ObservingApi()
    collector = await startCollector(api, { maxBodyBytes: 1_048_576, clientAddressHeader: 'X-Forwarded-For' })
  })
  afterEach(async () => {
    for (const wire of wires.splice(0)) wire.reset()
    await expectHealthy(collector.url, api)
  })
  afterAll(() => collector.stop())

  /**
   * Sends the requests without their last bytes, and waits until the collector has received these
   * incomplete requests. The returned function sends the last bytes.
   */
  async function assembleAll(requests: readonly (readonly [Fields, Buffer])[]): Promise<() => Promise<void>> {
    const all = requests.map(([fields, body]) => post('/v1/batch', fields, body))
    const [probe, ...opened] = await Promise.all([...'-', ...all].map(() => connect(collector.url)))
    wires.push(...opened)
    for (const [index, bytes] of all.entries()) void wires[index]?.send(bytes.subarray(0, -1))
    const bytesBefore = requests.reduce((sum, [, body]) => sum + body.length - 1, 0)
    await api.until(() => api.count('arriving') === all.length && api.reserved >= bytesBefore)
    return async () => {
      for (const [index, bytes] of all.entries()) void wires[index]?.send(bytes.subarray(-1))
      await probe?.send(post('/v1/batch', { Connection: 'close' }))
      await probe?.answer()
      probe?.reset()
    }
  }
  const assemble = (fields: Fields, body: Buffer) =>
    assembleAll(Array.from({ length: many }, () => [fields, body] as const))

  it('are unpacked a few at a time, and all are answered', async () => {
    const finish = await assemble(known, gzipSync(' '.repeat(500_000)))
    void finish()
    for (const wire of wires) expectAnswer(await wire.answer(), taken)
    expect(api.mostUnpacking).toBeGreaterThan(1)
    expect(api.mostUnpacking).toBeLessThanOrEqual(12)
  })

  it.each<[string, Fields, Fields, string]>([
    ['source', known, { 'X-Write-Key': 'OTHER' }, 'OTHER'],
    ['client address without a known source', fromAddress(1), fromAddress(2), addressOf(2)],
    ['source, while bodies without a known source wait', fromAddress(1), known, 'KEY'],
  ])('do not delay the body of another %s', async (_, crowd, other, owner) => {
    api.admission = key => ({ kind: 'admitted', sourceId: key })
    const honest = await connect(collector.url)
    const finish = await assemble(crowd, short)
    void finish()
    await honest.send(post('/v1/page', other, gzipSync('{"userId":"honest"}')))
    expectAnswer(await honest.answer(), taken)
    // On a busy machine, many bodies may be accepted before the server reads the honest request.
    expect(api.requests.slice(api.acceptedBefore.get(owner)).length).toBeLessThan(many / 2)
    honest.reset()
  })

  it('are not unpacked when their clients have closed the connections', async () => {
    const finish = await assemble(known, short)
    await finish()
    const accepted = api.requests.length
    for (const wire of wires) wire.reset()
    await api.until(() => api.reserved === 0)
    expect(api.requests.length - accepted).toBeLessThan(many / 2)
  })

  it('are unpacked by cost: small bodies do not wait for all expensive bodies of other sources', async () => {
    api.admission = key => ({ kind: 'admitted', sourceId: key })
    const expensive = manyBlocks(300_000, '[]')
    const hostile = Array.from({ length: 40 }, (_, index) => [{ 'X-Write-Key': `H${index % 10}` }, expensive] as const)
    const honest = Array.from({ length: 4 }, () => [{ 'X-Write-Key': 'HONEST' }, short] as const)
    const finish = await assembleAll([...hostile, ...honest])
    void finish()
    for (const wire of wires.slice(hostile.length)) expectAnswer(await wire.answer(), taken)
    // Before the last small body, about 16 of the 40 expensive bodies may end: 12 are unpacked
    // concurrently, and one follows for each of the 4 small bodies. 28 is halfway between 16 and
    // 40.
    const keys = api.requests.map(({ headerKey }) => headerKey)
    expect(keys.slice(0, keys.lastIndexOf('HONEST')).filter(key => key !== 'HONEST').length).toBeLessThan(28)
    for (const wire of wires.slice(0, hostile.length)) expectAnswer(await wire.answer(), taken)
  })

  it('can be evicted while they wait, and then get 503', async () => {
    const finish = await assemble(fromAddress(1), manyBlocks(60_000, '[]'))
    await finish()
    api.evictAll()
    const answers = await Promise.all(wires.map(wire => wire.answer()))
    // Counts only complete requests: after an incomplete body, the collector closes the connection.
    const evicted = answers.filter(({ status, headers }) => status === 503 && headers['connection'] === 'keep-alive')
    for (const answer of evicted) expectAnswer(answer, problem(503, 'unavailable'))
    expect(evicted.length).toBeGreaterThan(many / 2)
    expect(api.requests.length).toBeLessThan(many / 2)
  })
})
