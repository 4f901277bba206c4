import { expect, it } from '@jest/globals'
import { configTopic, oneOperator } from '../../../support/config-objects/config-topic-harness.ts'
import { destinationDocument } from '../../../support/config-objects/example-objects.ts'

it.each([
  ['a tombstone without headers', null],
  ['a value without headers', Buffer.from('x')],
])('writes a copy of an object after another program has written %s with its key', async (_, value) => {
  const { harness, change } = await oneOperator()
  await change(destinationDocument())
  await change(destinationDocument({ paused: true }))
  harness.log.write(configTopic, value, 'destination/crm')
  await harness.advance(29_000)
  expect(harness.written()).toEqual(['1 created', '2 updated', ''])
  await harness.advance(2_000)
  expect(harness.written().slice(3)).toEqual(['2 updated 1'])
  await harness.advance(120_000)
  expect(harness.written()).toHaveLength(4)
  const { objects } = await harness.compacted().start()
  expect(objects.get('destination', 'crm')).toMatchObject({ version: 2, document: { paused: true } })
})
