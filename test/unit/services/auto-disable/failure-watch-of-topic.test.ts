import { describe, expect, it } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { FailureWatch } from '../../../../src/services/auto-disable/failure-watch.ts'
import { oneOperator } from '../../../support/config-objects/harness.ts'
import { destinationDocument } from '../../../support/config-objects/objects.ts'
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

const goneDocument = destinationDocument({ lifecycle: { onGone: 'disable' } })

/** A process whose destination `crm` of the config topic responds with 410 Gone. */
async function goneOnTopic() {
  const { harness, process, change } = await oneOperator()
  await change(goneDocument)
  const { store, writer, merged } = process
  const routing = () => createRouting(merged().settings)
  const watch = new FailureWatch({ store, writer, routing, clock: harness.clock, logger: new RecordingLogger() })
  watch.start()
  watch.gone('crm', '0')
  await harness.advance(turn)
  const isDisabled = () => {
    const found = merged().settings.destinations.find(destination => destination.id === 'crm')
    return found?.disabledAutomatically !== undefined && !found.enabled
  }
  return { harness, process, change, isDisabled }
}
