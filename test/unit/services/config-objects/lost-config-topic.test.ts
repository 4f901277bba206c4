import { expect, it } from '@jest/globals'
import { configTopic, type OperatorProcess, oneOperator } from '../../../support/config-objects/config-topic-harness.ts'
import { destinationDocument } from '../../../support/config-objects/example-objects.ts'

const destinationsOf = ({ objects }: OperatorProcess): readonly string[] =>
  objects
    .list('destination')
    .filter(({ origin }) => origin === 'api')
    .map(({ id, version }) => `${id} ${version}`)

it('the processes write the objects of a topic that was created again, also for a new process', async () => {
  const { harness, process, change } = await oneOperator()
  const processes = [process, await harness.start()]
  for (const id of ['a', 'b', 'gone']) await change(destinationDocument(), { id })
  await change(destinationDocument({ paused: true }), { id: 'a' })
  await change(undefined, { id: 'gone' })
  harness.log.createAgain(configTopic)
  const restarted = await harness.start()
  expect(destinationsOf(restarted)).toEqual([])
  await harness.advance(2_000)
  for (const each of [...processes, restarted, await harness.start()]) {
    expect(destinationsOf(each)).toEqual(['a 2', 'b 1'])
    expect(each.store.known({ kind: 'destination', id: 'gone' })).toMatchObject({ version: 2, action: 'deleted' })
    expect(each.store.allToCopy()).toEqual([])
  }
  const written = harness.written().length
  await harness.advance(120_000)
  expect(harness.written()).toHaveLength(written)
})

it('a process with an old version of a lost object gets the newest version', async () => {
  const { harness, process, change } = await oneOperator()
  const late = await harness.start()
  await change(destinationDocument())
  late.follower.isCutOff = true
  await change(destinationDocument({ paused: true }))
  harness.log.createAgain(configTopic)
  late.follower.isCutOff = false
  await harness.advance(60_000)
  for (const each of [process, late, await harness.start()]) expect(destinationsOf(each)).toEqual(['crm 2'])
})

it('a change in the topic that was created again is in force, and the other objects stay', async () => {
  const { harness, process, change } = await oneOperator()
  await change(destinationDocument(), { id: 'a' })
  await change(destinationDocument(), { id: 'b' })
  harness.log.createAgain(configTopic)
  expect(await change(destinationDocument({ paused: true }), { id: 'a' })).toMatchObject({ kind: 'changed' })
  await harness.advance(2_000)
  expect(harness.written()).toEqual(['2 updated', '1 created 1'])
  for (const each of [process, await harness.start()]) expect(destinationsOf(each)).toEqual(['a 2', 'b 1'])
})
