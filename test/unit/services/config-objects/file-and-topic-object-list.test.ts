import { describe, expect, it } from '@jest/globals'
import { epochMs } from '../../../../src/core/time.ts'
import { oneOperator } from '../../../support/config-objects/config-topic-harness.ts'
import {
  destinationDocument,
  fileSettings,
  named,
  sourceDocument,
} from '../../../support/config-objects/example-objects.ts'

describe('lists', () => {
  it('have the objects of the file and of the topic, sorted by id', async () => {
    const { process, change } = await oneOperator()
    await change(destinationDocument(), { id: 'zoo' })
    await change(destinationDocument(), { id: 'abc' })
    await change(undefined, { id: 'zoo' })
    await change(sourceDocument(), { kind: 'source', id: 'app' })
    const shown = process.objects.list('destination').map(({ id, origin, version }) => [id, origin, version])
    expect(shown).toEqual([
      ['abc', 'api', 1],
      ['file-crm', 'file', 0],
    ])
    const sources = process.objects.list('source')
    expect(sources.map(({ id, document }) => [id, document])).toEqual([
      ['app', { id: 'app', writeKey: '***' }],
      ['web', { id: 'web', writeKey: '***' }],
    ])
    expect(sources[1]?.fingerprints).toEqual({ writeKey: expect.stringMatching(/^[0-9a-f]{8}$/) })
    expect(process.objects.list('source')).toBe(sources)
  })

  it('show an object of the file that hides one of the topic', async () => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument())
    const destinations = [{ id: 'crm', sources: ['web'], webhooks: [{ url: 'https://file.example.com/' }] }]
    const { objects } = await harness.start({ file: fileSettings({ destinations }) })
    expect(objects.get('destination', 'crm')).toMatchObject({ origin: 'file', isConflict: true, version: 0 })
    expect(objects.list('destination')).toMatchObject([{ origin: 'file', isConflict: true }])
  })

  it('show the unknown sources of a destination of the file, which stays in use', async () => {
    const { harness } = await oneOperator()
    const file = fileSettings()
    const destinations = file.destinations.map(destination => ({ ...destination, sources: ['web', 'wbe'] }))
    const { objects } = await harness.start({ file: { ...file, destinations } })
    const expected = {
      state: 'used',
      problems: [
        { path: ['sources', 1], message: 'no source has this id', hint: expect.stringMatching(/in the file/) },
      ],
    }
    expect(objects.get('destination', 'file-crm')).toMatchObject(expected)
    expect(objects.list('destination')).toMatchObject([expected])
  })

  it('have the changes, newest first and without values', async () => {
    const { harness, process, change } = await oneOperator()
    await change(destinationDocument())
    await harness.advance(1_000)
    const later = harness.clock.now()
    await change(current => ({ ...current, paused: true, sharedSecret: 'another-shared-secret' }), { by: 'bob' })
    await change(undefined)
    expect(process.objects.changes(epochMs(later)).changes).toEqual([
      { kind: 'destination', id: 'crm', version: 3, action: 'deleted', by: 'ada', at: later, fields: [] },
      {
        kind: 'destination',
        id: 'crm',
        version: 2,
        action: 'updated',
        by: 'bob',
        at: later,
        fields: ['paused', 'sharedSecret'],
      },
    ])
    expect(process.objects.changes().changes).toHaveLength(3)
    const other = await harness.start()
    expect(other.objects.changes()).toEqual(process.objects.changes())
    expect(other.store.known(named('destination', 'crm'))?.action).toBe('deleted')
  })
})
