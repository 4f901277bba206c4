import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { KafkaError } from '../../../../../src/adapters/kafka/kafkajs/errors.ts'
import { highestSyncId, syncId } from '../../../../../src/core/audience/sync-id.ts'
import { AudienceCommandHarness, firstId, folder, shoppers } from '../../../../support/audience/command-harness.ts'
import { configFolder } from '../../../../support/config/config-folder.ts'
import { topics } from '../../../../support/operator/deletion-and-audience-command-harness.ts'

let harness: AudienceCommandHarness
beforeEach(() => {
  harness = new AudienceCommandHarness()
})

/** Writes the watermarks of a full sync that has ended in every partition. */
function keepEnd(): void {
  const newest = highestSyncId(harness.clock.now())
  harness.keepWatermark('First time shopper', newest, newest)
}

describe('audience sync', () => {
  it('uploads the members of a file', async () => {
    const { code, out, err } = await harness.run(['sync', ...shoppers, '--members', `${folder}/members.txt`])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^full sync \d{16} of First time shopper: 2 members uploaded in 0\.0 s\n$/)
    expect(harness.inputsTold().toSorted()).toEqual([
      'observed ada true',
      'observed bob true',
      'sync_ended',
      'sync_ended',
    ])
    expect(harness.open).toBe(0)
  })

  it('uploads the values of a trait', async () => {
    await harness.run(['sync', '--name', 'Lifetime value', '--members', `${folder}/members.csv`])
    expect(harness.inputsTold()).toEqual(expect.arrayContaining(['observed ada 12', 'observed bob "gold"']))
  })

  it('uploads members from stdin and prints JSON', async () => {
    const argv = ['sync', ...shoppers, '--members', '-', '--partial', '--json']
    const { out } = await harness.run(argv, { stdin: 'ada\n{"userId":"bob","value":false}' })
    expect(JSON.parse(out)).toEqual({
      audience: 'First time shopper',
      mode: 'partial',
      syncId: expect.any(Number),
      received: 2,
      end: 'ended',
      seconds: 0,
    })
    expect(harness.inputsTold()).toContain('observed bob false')
    for (const input of harness.inputs()) expect(input).toMatchObject({ mode: 'partial' })
  })

  it.each<[string, () => void]>([
    ['full sync', () => harness.keepWatermark('First time shopper', syncId(firstId + 3_600_000 * 1_024 + 1))],
    ['partial sync', () => harness.keepShopper('zoe', { syncId: syncId(firstId + 3_600_000 * 1_024) })],
  ])('with --wait fails when an earlier sync has a time in the future: %s', async (_name, given) => {
    given()
    const { code, err } = await harness.run(['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait'])
    expect(code).toBe(1)
    expect(err).toMatch(
      /no effect, because an earlier sync has a later start time \(2026-03-01T01:00:00.000Z\): .*; run `hookline audience reset --name "First time shopper"`, then sync again/,
    )
  })

  it.each<[string, string[], string]>([
    [
      'an unknown name',
      ['--name', 'First time shoper', '--members', '-'],
      "--name: unknown value 'First time shoper' (did you mean First time shopper?)",
    ],
    ['a missing file', [...shoppers, '--members', '/nowhere/list'], '--members: ENOENT'],
    ['a directory', [...shoppers, '--members', '/'], '--members: / is a directory'],
    ['no --members', shoppers, "required option '--members <file>' not specified"],
    ['no --name', ['--members', '-'], "required option '--name <name>' not specified"],
  ])('usage: %s', async (_name, argv, message) => {
    const { code, err } = await harness.run(['sync', ...argv])
    expect(code).toBe(2)
    expect(err).toContain(`hookline: ${message}`)
    expect(harness.inputs()).toEqual([])
  })

  it.each<[string, string, string]>([
    [
      'an invalid line',
      'wrong.ndjson',
      ": line 2: there is no user id: set 'userId' to a string or a number; the sync is incomplete: Hookline applied 1 line and did not remove the members who are missing from the list",
    ],
    [
      'an empty list',
      'nobody.txt',
      ' is empty, which would remove all members; if that is intended, use --allow-empty',
    ],
  ])('rejects %s and does not end the sync', async (_name, file, message) => {
    const { code, out, err } = await harness.run(['sync', ...shoppers, '--members', `${folder}/${file}`])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`hookline: ${folder}/${file}${message}`)
    expect(harness.inputsTold()).not.toContain('sync_ended')
  })

  it('names a damaged gzip file, and says that the sync is incomplete', async () => {
    const packed = gzipSync('ada\nbob\n')
    const file = join(await configFolder({ 'cut.gz': packed.subarray(0, -9) }), 'cut.gz')
    const { code, out, err } = await harness.run(['sync', ...shoppers, '--members', file])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(
      /^hookline: .*\/cut\.gz: gzip cannot be unpacked: .*; the sync is incomplete: Hookline applied \d lines? and did not remove the members who are missing from the list; sync the whole list again\n$/,
    )
    expect(harness.inputsTold()).not.toContain('sync_ended')
  })

  it('says how many lines are applied when reading the list fails', async () => {
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.from('ada\nbob\n')
      throw new Error('EIO: i/o error, read')
    }
    const argv = ['sync', ...shoppers, '--members', '-']
    const { code, err } = await harness.run(argv, { stdin: Readable.from(failing()) })
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: stdin: EIO: i/o error, read; the sync is incomplete: Hookline applied 2 lines and did not remove the members who are missing from the list; sync the whole list again\n',
    })
    expect(harness.inputsTold().toSorted()).toEqual(['observed ada true', 'observed bob true'])
  })

  it('accepts an empty list with --allow-empty', async () => {
    const argv = ['sync', ...shoppers, '--members', `${folder}/nobody.txt`, '--allow-empty']
    expect((await harness.run(argv)).code).toBe(0)
    expect(harness.inputsTold()).toEqual(['sync_ended', 'sync_ended'])
  })

  it('warns when the audience has no enabled destination', async () => {
    const { code, err } = await harness.run(['sync', '--name', 'Idle', '--members', '-'], { stdin: 'ada' })
    expect(code).toBe(0)
    expect(err).toMatch(/^hookline: audience Idle has no enabled destination, so the sync sends no changes; add /)
  })

  it('does not end an interrupted sync', async () => {
    const stopping = new AbortController()
    stopping.abort()
    const { code, err } = await harness.run(['sync', ...shoppers, '--members', '-'], {
      stdin: 'ada',
      signal: stopping.signal,
    })
    expect(code).toBe(1)
    expect(err).toContain('hookline: interrupted; the sync is incomplete: Hookline applied 0 lines')
    expect(harness.inputsTold()).not.toContain('sync_ended')
  })

  it('fails when Kafka rejects the write', async () => {
    harness.log.unwritable.add(topics.audienceInput)
    const { code, err } = await harness.run(['sync', ...shoppers, '--members', '-'], { stdin: 'ada' })
    expect({ code, err }).toEqual({ code: 1, err: 'hookline: hookline.audience-input is not writable\n' })
    expect(harness.open).toBe(0)
  })

  it('--wait fails if a partition did not apply the end of the sync', async () => {
    const { code, err } = await harness.run(['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait'])
    expect(code).toBe(1)
    expect(err).toMatch(
      /^hookline: the sync is incomplete: in 2 partitions of the audience-input topic, .* wait two minutes, .*\n$/,
    )
  })

  it.each<[string, boolean, number, string]>([
    ['all delivered', true, 0, 'memberships: 2 delivered (the command waited for 0.0 s)'],
    ['one not delivered', false, 1, 'memberships: 1 delivered, 1 not delivered (the command waited for 0.0 s)'],
  ])('--wait waits for the deliveries: %s', async (_name, isDelivered, code, line) => {
    keepEnd()
    harness.keepShopper('ada', {})
    harness.keepShopper('bob', isDelivered ? {} : { acknowledged: undefined })
    const result = await harness.run(['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait'])
    expect(result.code).toBe(code)
    expect(result.out.split('\n')[1]).toBe(line)
    if (code === 1)
      expect(result.err).toContain(
        '1 change not delivered; the next full sync sends undelivered changes again; to see them, run: hookline audience drift --name "First time shopper"',
      )
  })

  it('--wait counts the seconds of the wait separately from those of the upload', async () => {
    keepEnd()
    harness.committed = () => {
      void harness.clock.advance(2_500)
      return [10, 10]
    }
    const argv = ['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait', '--json']
    expect(JSON.parse((await harness.run(argv)).out)).toMatchObject({ seconds: 0, waitSeconds: 2.5, waiting: 0 })
  })

  it('--wait can be interrupted; the delivery continues', async () => {
    harness.keepShopper('ada', { inFlight: harness.inFlight() })
    const stopping = new AbortController()
    harness.committed = () => {
      stopping.abort()
      return [0, 0]
    }
    const argv = ['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait']
    const { code, err } = await harness.run(argv, { signal: stopping.signal })
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: interrupted; the upload is complete, and Hookline continues to deliver the changes\n',
    })
    expect(harness.inputsTold()).toContain('sync_ended')
  })

  it('--wait can be interrupted while it repeats a failed read of Kafka', async () => {
    const stopping = new AbortController()
    harness.committed = () => {
      stopping.abort()
      throw new KafkaError('the offsets cannot be read', { code: 'ECONNREFUSED', retriable: true })
    }
    const argv = ['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait']
    const { code, err } = await harness.run(argv, { signal: stopping.signal })
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: interrupted; the upload is complete, and Hookline continues to deliver the changes\n',
    })
  })

  it('--wait says that the upload is complete when Kafka fails during the wait', async () => {
    harness.committed = () => {
      throw new KafkaError('the offsets cannot be read', { code: 'DENIED', retriable: false })
    }
    const argv = ['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait', '--json']
    const { code, out, err } = await harness.run(argv)
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: the offsets cannot be read; the upload is complete, and Hookline continues to deliver the changes\n',
    })
    expect(JSON.parse(out)).toMatchObject({ end: 'ended', received: 2 })
  })

  it('shows a progress bar only on a terminal', async () => {
    const argv = ['sync', ...shoppers, '--members', `${folder}/members.txt`]
    expect((await harness.run(argv, { isTTY: true })).err).toContain('2 members')
    expect((await harness.run([...argv, '--json'], { isTTY: true })).err).toBe('')
  })
})
