import { randomBytes } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { urlHashesOf, withoutFailures } from '../../../../src/core/auto-disable/judge-failures.ts'
import { byLifecycle, failureRecord } from '../../../../src/core/config-objects/destination-failure-record.ts'
import { encodeRecord } from '../../../../src/core/config-objects/object-record.ts'
import type { Switch } from '../../../../src/core/operator/objects-api.ts'
import { createManageObjects } from '../../../../src/services/operator/manage-objects.ts'
import { configTopic, oneOperator } from '../../../support/config-objects/config-topic-harness.ts'
import { destinationDocument, secondKey } from '../../../support/config-objects/example-objects.ts'

/** A process that excludes `crm`, because it lacks the encryption key. */
async function excluded() {
  const { harness, process, change } = await oneOperator()
  await change(destinationDocument())
  const { clock } = harness
  const settings = process.merged().settings.destinations.find(({ id }) => id === 'crm')!
  const at = clock.now()
  const disabled = { at, reason: 'failing', failingSince: at } as const
  const state = { ...withoutFailures({ urls: urlHashesOf(settings), version: 1 }), failingSince: at, disabled }
  const record = failureRecord({
    ...{ id: 'crm', by: byLifecycle, at, writeId: 'other', state },
    ...{ known: undefined, before: undefined },
  })
  harness.log.producer().append(configTopic, encodeRecord(record), () => undefined)
  harness.log.poll()
  const { objects } = await harness.start({ keys: [secondKey] })
  const api = createManageObjects({ objects, clock, randomBytes })
  const target = { kind: 'destination', id: 'crm', by: 'ada', precondition: { kind: 'none' } } as const
  return { objects, switchTo: (to: Switch) => harness.settled(api.switch(target, to)) }
}

it('repeats the pause of an excluded destination without a change', async () => {
  const { switchTo } = await excluded()
  expect(await switchTo('pause')).toMatchObject({ kind: 'changed', fields: ['paused'], object: { version: 2 } })
  expect(await switchTo('pause')).toMatchObject({ kind: 'changed', fields: [], object: { version: 2 } })
})

it('ends the automatic disabling of an excluded destination', async () => {
  const { objects, switchTo } = await excluded()
  expect(objects.get('destination', 'crm')).toMatchObject({ state: 'excluded' })
  expect(await switchTo('enable')).toMatchObject({ kind: 'changed', fields: ['enabled'] })
  expect(await switchTo('enable')).toMatchObject({ kind: 'changed', fields: [] })
})
