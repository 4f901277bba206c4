import { describe, expect, it } from '@jest/globals'
import type { ObjectDocument } from '../../../../src/core/config-objects/config-objects.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { FailureWatch } from '../../../../src/services/auto-disable/failure-watch.ts'
import { oneOperator } from '../../../support/config-objects/config-topic-harness.ts'
import { destinationDocument } from '../../../support/config-objects/example-objects.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

/** The watch runs every 5 s. */
const turn = 5_000

describe('a destination of the config topic that Hookline has disabled', () => {
  it('keeps its document', async () => {
    const { process, isDisabled } = await goneOnTopic()
    expect(isDisabled()).toBe(true)
    expect(process.objects.get('destination', 'crm')).toMatchObject({
      version: 1,
      document: { lifecycle: { onGone: 'disable' } },
    })
    expect(process.objects.changes().changes[0]).toMatchObject({ version: 1, by: 'hookline.lifecycle' })
  })

  it('is enabled when it is deleted and immediately created again', async () => {
    const { harness, change, isDisabled } = await goneOnTopic()
    expect(await change(undefined)).toMatchObject({ kind: 'changed', object: undefined })
    const created = await change(goneDocument)
    expect(created).toMatchObject({ kind: 'changed', object: { version: 3, disabledAutomatically: undefined } })
    await harness.advance(2 * turn)
    expect(isDisabled()).toBe(false)
  })
})

it('a webhook that is gone does not count as another one after the webhooks were reordered', async () => {
  const [first, second] = ['https://a.example.com/', 'https://b.example.com/'].map(url => ({ url }))
  const withWebhooks = (webhooks: readonly object[]) => ({ ...goneDocument, webhooks })
  const { harness, watch, webhook, change, isDisabled } = await withDestination(withWebhooks([first!, second!]))
  const gone = webhook().urlHash
  watch.gone('crm', webhook())
  await harness.advance(turn)
  await change(withWebhooks([second!, first!]))
  await harness.advance(turn)
  expect(webhook(1).urlHash).toBe(gone)
  watch.gone('crm', webhook(1))
  await harness.advance(turn)
  expect(isDisabled()).toBe(false)
  watch.gone('crm', webhook(0))
  await harness.advance(turn)
  expect(isDisabled()).toBe(true)
})

describe('the old URL of a destination', () => {
  it('does not disable the destination with a 410', async () => {
    const { harness, watch, webhook, change, isDisabled } = await withDestination(goneDocument)
    const old = webhook()
    watch.gone('crm', old)
    await change(movedDocument)
    await harness.advance(turn)
    watch.gone('crm', old)
    await harness.advance(turn)
    expect(isDisabled()).toBe(false)
    watch.gone('crm', webhook())
    await harness.advance(turn)
    expect(isDisabled()).toBe(true)
  })

  it('begins no failure state of the new URL', async () => {
    const { harness, process, watch, webhook, change } = await withDestination(failingDocument)
    const old = webhook()
    watch.attempted('crm', old.urlHash, 'fails')
    await change({ ...movedDocument, lifecycle: { disableAfter: '1h' } })
    await harness.advance(turn)
    watch.attempted('crm', webhook().urlHash, 'fails')
    watch.attempted('crm', old.urlHash, 'fails')
    await harness.advance(turn)
    expect(process.store.failures.get('crm')?.failingSince).toBeUndefined()
  })
})

const goneDocument = destinationDocument({ lifecycle: { onGone: 'disable' } })
const failingDocument = destinationDocument({ lifecycle: { disableAfter: '1h' } })
const movedDocument = { ...goneDocument, webhooks: [{ url: 'https://moved.example.com/' }] }

async function withDestination(document: ObjectDocument) {
  const { harness, process, change } = await oneOperator()
  await change(document)
  const { store, writer, merged } = process
  const routing = () => createRouting(merged().settings)
  const watch = new FailureWatch({ store, writer, routing, clock: harness.clock, logger: new RecordingLogger() })
  watch.start()
  const found = () => merged().settings.destinations.find(destination => destination.id === 'crm')
  const webhook = (index = 0) => found()!.webhooks[index]!
  const isDisabled = () => found()?.disabledAutomatically !== undefined && !found()?.enabled
  return { harness, process, watch, webhook, change, isDisabled }
}

async function goneOnTopic() {
  const all = await withDestination(goneDocument)
  all.watch.gone('crm', all.webhook())
  await all.harness.advance(turn)
  return all
}
