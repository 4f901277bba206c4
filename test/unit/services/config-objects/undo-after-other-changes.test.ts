import { beforeEach, expect, it } from '@jest/globals'
import type {
  ChangeOutcome,
  ChangeRequest,
  ObjectDocument,
} from '../../../../src/core/config-objects/config-objects.ts'
import type { ObjectName } from '../../../../src/core/config-objects/object-record.ts'
import { ConfigTopicHarness, type OperatorProcess } from '../../../support/config-objects/config-topic-harness.ts'
import { destinationDocument, sourceDocument } from '../../../support/config-objects/example-objects.ts'

/*
 * A process undoes its change late: another process has read the change, and has then confirmed
 * a change that the undo could break.
 */

const put = (name: ObjectName, document: ObjectDocument | undefined): ChangeRequest => ({
  ...{ ...name, expected: { kind: 'any' }, by: 'ada' },
  next: () => document && { ...document },
})
const sourceWith = (id: string, key: number) =>
  put({ kind: 'source', id }, sourceDocument({ writeKey: `write-key-number-${key}` }))
const deletionOf = (id: string) => put({ kind: 'source', id }, undefined)
const crmOf = (source: string) => put({ kind: 'destination', id: 'crm' }, destinationDocument({ sources: [source] }))

let harness: ConfigTopicHarness
let late: OperatorProcess
let other: OperatorProcess

beforeEach(async () => {
  harness = new ConfigTopicHarness()
  late = await harness.start()
  other = await harness.start()
  await harness.settled(late.objects.change(sourceWith('a', 1)))
})

interface OtherChanges {
  readonly before: readonly ChangeRequest[]
  readonly after: readonly ChangeRequest[]
  /** Written after the process `late` has last read the topic, and before it undoes its change. */
  readonly during?: ChangeRequest
}

/** Returns the outcome of `change`, which the process `late` writes between the other changes. */
async function outcomeOf(change: ChangeRequest, { before, after, during }: OtherChanges): Promise<ChangeOutcome> {
  const confirmed = async (each: ChangeRequest) =>
    expect(await other.objects.change(each)).toMatchObject({ kind: 'changed', object: { state: 'used' } })
  late.follower.isCutOff = true
  for (const each of before) await harness.settled(confirmed(each))
  const outcome = late.objects.change(change)
  await turns(() => harness.log.poll())
  for (const each of after) await harness.settled(confirmed(each))
  const last = during && other.objects.change(during)
  await turns(() => {})
  late.follower.isCutOff = false
  late.follower.poll()
  await harness.settled(Promise.all([outcome, last]))
  return outcome
}

async function turns(then: () => void): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise(resolve => setImmediate(resolve))
    then()
  }
}

/** Returns the states of all objects of the topic, which must be the same in all processes. */
async function states() {
  const processes = [late, other, await harness.start(), await harness.compacted().start()]
  const all = processes.map(({ objects }) =>
    [...objects.list('source'), ...objects.list('destination')]
      .filter(({ origin }) => origin === 'api')
      .map(({ id, state }) => `${id} ${state}`)
      .sort(),
  )
  for (const each of all) expect(each).toEqual(all[0])
  return all[0]
}

it('a new write key stays when another source has exchanged this key for the old one before the undo', async () => {
  const outcome = await outcomeOf(sourceWith('a', 2), { before: [sourceWith('b', 2)], after: [sourceWith('b', 1)] })
  expect(outcome).toMatchObject({ kind: 'changed', object: { version: 2, state: 'used' } })
  expect(await states()).toEqual(['a used', 'b used'])
})

it('a new source stays when a destination has got it before the undo', async () => {
  const after = [sourceWith('b', 3), crmOf('c')]
  const outcome = await outcomeOf(sourceWith('c', 2), { before: [sourceWith('b', 2)], after })
  expect(outcome).toMatchObject({ kind: 'changed', created: true, object: { version: 1, state: 'used' } })
  await harness.advance(60_000)
  expect(await states()).toEqual(['a used', 'b used', 'c used', 'crm used'])
})

it('a deleted source stays deleted when another source has got its write key before the undo', async () => {
  const outcome = await outcomeOf(deletionOf('a'), { before: [crmOf('a')], after: [sourceWith('b', 1)] })
  expect(outcome).toEqual({
    kind: 'unavailable',
    detail: expect.stringMatching(
      /^another process made .*used by the destination crm; Hookline kept the requested change/,
    ),
  })
  await harness.advance(60_000)
  expect(await states()).toEqual(['b used', 'crm excluded'])
})

it('a source that gets its old write key again does not take the key from another source', async () => {
  const outcome = await outcomeOf(sourceWith('a', 2), { before: [sourceWith('b', 2)], after: [sourceWith('c', 1)] })
  expect(outcome).toEqual({ kind: 'unavailable', detail: expect.stringContaining('; Hookline undid the requested') })
  expect(await states()).toEqual(['a excluded', 'b used', 'c used'])
  await harness.settled(other.objects.change(sourceWith('c', 3)))
  expect(await states()).toEqual(['a used', 'b used', 'c used'])
})

it('a change is made again when its undo came after the change of a write key', async () => {
  const during = sourceWith('b', 1)
  const outcome = await outcomeOf(sourceWith('a', 2), { before: [sourceWith('b', 2)], after: [], during })
  expect(outcome).toMatchObject({ kind: 'changed', created: false, object: { version: 4, state: 'used' } })
  expect(await states()).toEqual(['a used', 'b used'])
})

it('a source is created again when its deletion came after the creation of a destination', async () => {
  const others = { before: [sourceWith('b', 2)], after: [sourceWith('b', 3)], during: crmOf('c') }
  const outcome = await outcomeOf(sourceWith('c', 2), others)
  expect(outcome).toMatchObject({ kind: 'changed', created: true, object: { version: 3, state: 'used' } })
  expect(await states()).toEqual(['a used', 'b used', 'c used', 'crm used'])
})
