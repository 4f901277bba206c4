import { describe, expect, it } from '@jest/globals'
import type { ChangeRequest, ObjectDocument, ObjectKind } from '../../../../src/core/config-objects/config-objects.ts'
import { ConfigTopicHarness, type OperatorProcess } from '../../../support/config-objects/config-topic-harness.ts'
import { destinationDocument, fileSettings, sourceDocument } from '../../../support/config-objects/example-objects.ts'

/* Concurrent changes of different objects that together would break a reference between them. */

const request = (kind: ObjectKind, id: string, document: ObjectDocument | undefined): ChangeRequest => ({
  ...{ kind, id, expected: { kind: 'any' }, by: 'ada' },
  next: () => document && { ...document },
})
const putSource = (id: string, writeKey: string) => request('source', id, sourceDocument({ writeKey }))
const deleteSource = (id: string) => request('source', id, undefined)
const putDestination = (id: string, sources: readonly string[]) =>
  request('destination', id, destinationDocument({ sources }))

async function processes(count: number) {
  const harness = new ConfigTopicHarness()
  const all: OperatorProcess[] = []
  for (let started = 0; started < count; started++) all.push(await harness.start())
  const change = (index: number, each: ChangeRequest) => all[index]!.objects.change(each)
  const changed = (index: number, each: ChangeRequest) => harness.settled(change(index, each))
  await changed(0, putSource('app', 'write-key-of-app'))
  const shown = (kind: ObjectKind, id: string) =>
    all.map(({ objects }) => {
      const found = objects.get(kind, id)
      return found && [found.state, found.problems.map(({ path, message }) => `${path.join('.')} ${message}`)]
    })
  return { harness, all, change, changed, shown }
}

const unknownSource = 'sources.0 no source has this id'
const noSource = { path: ['sources', 0], message: 'no source has this id' }

describe.each([
  ['one process', [0, 0]],
  ['two processes', [0, 1]],
] as const)('concurrent changes in %s', (_name, [one, other]) => {
  it('keep a source that a new destination names', async () => {
    const { harness, change, shown } = await processes(2)
    const both = [change(one, putDestination('crm', ['app'])), change(other, deleteSource('app'))]
    expect(await harness.settled(Promise.all(both))).toMatchObject([
      { kind: 'changed', created: true },
      { kind: 'refused', problems: [{ path: [], message: 'this source is used by the destination crm' }] },
    ])
    expect(shown('source', 'app')).toEqual([
      ['used', []],
      ['used', []],
    ])
    expect(shown('destination', 'crm')).toEqual([
      ['used', []],
      ['used', []],
    ])
  })

  it('do not create a destination of a deleted source', async () => {
    const { harness, all, change, shown } = await processes(2)
    const both = [change(one, deleteSource('app')), change(other, putDestination('crm', ['app']))]
    expect(await harness.settled(Promise.all(both))).toMatchObject([
      { kind: 'changed', object: undefined },
      { kind: 'refused', problems: [noSource] },
    ])
    expect(shown('destination', 'crm')).toEqual([undefined, undefined])
    for (const { merged } of all) expect(merged().settings.destinations.map(({ id }) => id)).toEqual(['file-crm'])
  })

  it('do not add a deleted source to a destination, and keep the previous document', async () => {
    const { harness, all, change, changed, shown } = await processes(2)
    await changed(0, putDestination('crm', ['web']))
    const both = [change(one, deleteSource('app')), change(other, putDestination('crm', ['web', 'app']))]
    expect(await harness.settled(Promise.all(both))).toMatchObject([
      { kind: 'changed' },
      { kind: 'refused', problems: [{ path: ['sources', 1] }] },
    ])
    for (const { objects } of all)
      expect(objects.get('destination', 'crm')?.document).toMatchObject({ sources: ['web'] })
    expect(shown('destination', 'crm')).toEqual([
      ['used', []],
      ['used', []],
    ])
  })

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('give a write key to the source %s that was written before %s', async (first, second) => {
    const { harness, all, change } = await processes(2)
    const both = [change(one, putSource(first, 'one-key-of-two')), change(other, putSource(second, 'one-key-of-two'))]
    expect(await harness.settled(Promise.all(both))).toMatchObject([
      { kind: 'changed', created: true },
      { kind: 'refused', problems: [{ path: ['writeKey'], message: 'is also the write key of another source' }] },
    ])
    for (const { merged, objects } of all) {
      const sources = merged().settings.sources.filter(({ writeKeys }) => writeKeys[0]?.reveal() === 'one-key-of-two')
      expect(sources.map(({ id }) => id)).toEqual([first])
      expect(objects.get('source', second)).toBeUndefined()
    }
  })
})

describe('a process that dies before it takes its change back', () => {
  /**
   * Two processes write concurrently. The second process dies before it reads its own record back.
   */
  async function dies(first: ChangeRequest, second: ChangeRequest) {
    const context = await processes(2)
    const { harness, all, change } = context
    const written = change(0, first)
    void change(1, second)
    all[1]!.follower.isCutOff = true
    expect(await harness.settled(written)).toMatchObject({ kind: 'changed' })
    await harness.advance(1_000)
    return context
  }

  it('leaves the deletion of a used source, which another process undoes after 30 s', async () => {
    const { harness, all, shown } = await dies(putDestination('crm', ['app']), deleteSource('app'))
    await harness.advance(28_000)
    expect(shown('source', 'app')[0]).toBeUndefined()
    expect(shown('destination', 'crm')[0]).toEqual(['excluded', [unknownSource]])
    await harness.advance(2_000)
    expect(shown('source', 'app')[0]).toEqual(['used', []])
    expect(shown('destination', 'crm')[0]).toEqual(['used', []])
    const sources = all[0]!.merged().settings.sources.filter(({ id }) => id === 'app')
    expect(sources.map(({ writeKeys }) => writeKeys.map(key => key.reveal()))).toEqual([['write-key-of-app']])
    const [last] = all[0]!.objects.changes().changes
    expect(last).toMatchObject({ id: 'app', action: 'created', by: 'hookline.undo' })
  })

  it('leaves the deletion of a source in force when the destination no longer names it after 30 s', async () => {
    const { harness, changed, shown } = await dies(putDestination('crm', ['app']), deleteSource('app'))
    await changed(0, putDestination('crm', ['web']))
    await harness.advance(60_000)
    expect(shown('source', 'app')[0]).toBeUndefined()
  })

  it('leaves the deletion of a source in force when another source has its write key after 30 s', async () => {
    const { harness, changed, shown } = await dies(putDestination('crm', ['app']), deleteSource('app'))
    await changed(0, putSource('b', 'write-key-of-app'))
    await harness.advance(60_000)
    expect(shown('source', 'app')[0]).toBeUndefined()
    expect(shown('source', 'b')[0]).toEqual(['used', []])
  })

  it('leaves a destination that is excluded until its source exists again', async () => {
    const { all, changed, shown } = await dies(deleteSource('app'), putDestination('crm', ['web', 'app']))
    const [{ merged, objects }] = all as [OperatorProcess]
    expect(shown('destination', 'crm')[0]).toEqual(['excluded', ['sources.1 no source has this id']])
    expect(merged().counts).toEqual({ used: 0, excluded: 1, conflict: 0 })
    expect(merged().settings.destinations.find(({ id }) => id === 'crm')).toMatchObject({
      isPlaceholder: true,
      webhooks: [],
    })
    await changed(0, putSource('app', 'new-key-of-app'))
    expect(shown('destination', 'crm')[0]).toEqual(['used', []])
    expect(objects.get('destination', 'crm')?.problems).toEqual([])
  })

  it.each([
    ['paused', { paused: true }],
    ['disabled', { enabled: false }],
  ])('leaves a destination that can be %s', async (_name, patch) => {
    const { all, changed, shown } = await dies(deleteSource('app'), putDestination('crm', ['app']))
    const patching = {
      ...request('destination', 'crm', {}),
      next: (now?: ObjectDocument) => now && { ...now, ...patch },
    }
    const outcome = await changed(0, patching)
    expect(outcome).toMatchObject({ kind: 'changed', object: { state: 'excluded', problems: [noSource] } })
    expect(shown('destination', 'crm')[0]).toEqual(['excluded', [unknownSource]])
    const { enabled } = all[0]!.merged().settings.destinations.find(({ id }) => id === 'crm')!
    expect(enabled).toBe(!('enabled' in patch))
  })

  it('leaves a destination that can be deleted and corrected, but gets no other unknown source', async () => {
    const { changed, shown } = await dies(deleteSource('app'), putDestination('crm', ['app']))
    const more = putDestination('crm', ['app', 'wbe'])
    expect(await changed(0, more)).toMatchObject({ kind: 'refused', problems: [{ path: ['sources', 1] }] })
    expect(await changed(0, putDestination('crm', ['web']))).toMatchObject({ kind: 'changed' })
    expect(shown('destination', 'crm')[0]).toEqual(['used', []])
    expect(await changed(0, request('destination', 'crm', undefined))).toMatchObject({ kind: 'changed' })
  })

  it('leaves the write key to the source that was written first, whatever the ids are', async () => {
    const { harness, all, changed } = await dies(putSource('b', 'one-key-of-two'), putSource('a', 'one-key-of-two'))
    const ownerOf = ({ merged }: OperatorProcess) =>
      merged()
        .settings.sources.filter(({ writeKeys }) => writeKeys.some(key => key.reveal() === 'one-key-of-two'))
        .map(({ id }) => id)
    expect(ownerOf(all[0]!)).toEqual(['b'])
    expect(await changed(0, putDestination('of-a', ['a']))).toMatchObject({
      ...{
        kind: 'refused',
        problems: [{ path: ['sources', 0], message: expect.stringContaining('another source has the same write key') }],
      },
    })
    expect(await changed(0, putDestination('of-b', ['b']))).toMatchObject({ kind: 'changed' })
    const rotated = ['new-key-of-b', 'one-key-of-two']
    expect(await changed(0, request('source', 'b', { writeKey: rotated }))).toMatchObject({ kind: 'changed' })
    expect(ownerOf(all[0]!)).toEqual(['b'])
    expect(ownerOf(await harness.start())).toEqual(['b'])
    expect(await changed(0, request('source', 'a', { writeKey: 'other-key-of-a' }))).toMatchObject({ kind: 'changed' })
    expect(all[0]!.objects.get('source', 'a')).toMatchObject({ state: 'used' })
  })

  it('leaves the write key to the same source after compaction', async () => {
    const { harness, changed } = await dies(putSource('b', 'one-key-of-two'), putSource('a', 'one-key-of-two'))
    await changed(0, request('source', 'b', { writeKey: ['new-key-of-b', 'one-key-of-two'] }))
    const late = await harness.compacted().start()
    expect(late.objects.get('source', 'a')).toMatchObject({ state: 'excluded' })
    expect(late.objects.get('source', 'b')).toMatchObject({ state: 'used' })
  })
})

it('a destination of the topic is excluded when the configuration file no longer has its source', async () => {
  const { harness, changed } = await processes(1)
  await changed(0, putDestination('crm', ['web']))
  const file = fileSettings({ sources: [{ id: 'other', writeKey: 'write-key-of-other' }], destinations: [] })
  const { objects } = await harness.start({ file })
  expect(objects.get('destination', 'crm')).toMatchObject({ state: 'excluded', problems: [noSource] })
})

it('the deletion of a source stays when only the configuration file of another process uses the source', async () => {
  const { harness, all, changed } = await processes(1)
  const file = fileSettings({
    sources: [{ id: 'app', writeKey: 'write-key-of-file' }],
    destinations: [{ id: 'file-crm', sources: ['app'], webhooks: [{ url: 'https://file.example.com/' }] }],
  })
  await harness.start({ file })
  await changed(0, deleteSource('app'))
  await harness.advance(60_000)
  expect(all[0]!.objects.get('source', 'app')).toBeUndefined()
})

it.each(['a:b-of-the-app', 'a\nb-of-the-app', 'a\0b-of-the-app', ' a-b-of-the-app', 'é-of-the-app'])(
  'the write key %j, which not every client can send, is refused',
  async writeKey => {
    const { changed } = await processes(1)
    const problem = { message: 'has characters that some clients cannot send' }
    expect(await changed(0, { ...putSource('b', writeKey), dryRun: true })).toMatchObject({
      ...{ kind: 'refused', problems: [{ path: ['writeKey'], ...problem }] },
    })
    const keys = { writeKey: ['write-key-of-app', writeKey] }
    expect(await changed(0, request('source', 'app', sourceDocument(keys)))).toMatchObject({
      ...{ kind: 'refused', problems: [{ path: ['writeKey', 1], ...problem }] },
    })
  },
)

it('one process makes many changes that do not affect each other concurrently', async () => {
  const { harness, change } = await processes(1)
  const writes = Array.from({ length: 20 }, (_, index) => change(0, putDestination(`crm-${index}`, ['app', 'web'])))
  await new Promise(resolve => setImmediate(resolve))
  harness.log.poll()
  expect(harness.written()).toHaveLength(21)
  await harness.settled(Promise.all(writes))
})
