import { describe, expect, it } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import type { DestinationLifecycle, Settings } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { FailureWatch } from '../../../../src/services/auto-disable/failure-watch.ts'
import { ConfigTopicHarness, configTopic } from '../../../support/config-objects/config-topic-harness.ts'
import { fileSettings } from '../../../support/config-objects/example-objects.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const second = 1_000
/** Time between two steps of these tests, in ms. The watch runs every 5 s, so twice in a step. */
const step = 10 * second
const id = 'file-crm'
const webhook = fileSettings().destinations[0]!.webhooks[0]!
const urls = webhook.urlHash
const afterSteps: DestinationLifecycle = { disableAfter: durationMs(72 * step) }

const withLifecycle = (lifecycle: DestinationLifecycle, settings = fileSettings()): Settings => ({
  ...settings,
  destinations: settings.destinations.map(destination => ({ ...destination, lifecycle })),
})

class Installation {
  readonly harness = new ConfigTopicHarness()
  readonly clock = this.harness.clock
  file: Settings

  constructor(lifecycle: DestinationLifecycle) {
    this.file = withLifecycle(lifecycle)
  }

  /** When `file` changes, the process uses the new settings. */
  async process() {
    const { harness, clock } = this
    const logger = new RecordingLogger()
    const process = await harness.start({ file: this.file, logger })
    const settings = () => {
      const merged = process.merged().settings
      const changed = new Map(this.file.destinations.map(destination => [destination.id, destination]))
      const current = merged.destinations.flatMap(destination => changed.get(destination.id) ?? [])
      return { ...merged, destinations: current }
    }
    const { store, writer } = process
    const watch = new FailureWatch({ store, writer, routing: () => createRouting(settings()), clock, logger })
    watch.start()
    const kill = () => {
      watch.stop()
      process.stop()
    }
    return { ...process, watch, kill, lines: logger.lines }
  }

  state(store: Awaited<ReturnType<Installation['process']>>['store']) {
    return store.failures.get(id)
  }

  records(): number {
    return this.harness.log.records(configTopic).length
  }
}

type Process = Awaited<ReturnType<Installation['process']>>

async function failFor(installation: Installation, processes: readonly Process[], steps: number): Promise<void> {
  for (let count = 0; count < steps; count++) {
    processes[count % processes.length]?.watch.attempted(id, urls, 'fails')
    await installation.harness.advance(step)
  }
}

describe('a destination of the file whose attempts fail', () => {
  it('is disabled in all processes after disableAfter, also when a process is killed in between', async () => {
    const installation = new Installation(afterSteps)
    const [a, b] = [await installation.process(), await installation.process()]
    await failFor(installation, [a, b], 40)
    a.kill()
    const c = await installation.process()
    await failFor(installation, [b, c], 32)
    expect(installation.state(b.store)).toMatchObject({ attempts: 20, disabled: undefined })
    await failFor(installation, [c], 2)
    for (const { merged, objects } of [b, c]) {
      expect(merged().settings.destinations).toMatchObject([
        { id, enabled: false, disabledAutomatically: { reason: 'failing' } },
      ])
      expect(objects.get('destination', id)).toMatchObject({ disabledAutomatically: { reason: 'failing' } })
      expect(objects.changes().changes).toMatchObject([
        { kind: 'destination', id, version: 0, by: 'hookline.lifecycle', action: 'updated', fields: ['enabled'] },
      ])
    }
    expect(c.lines).toMatchObject([{ level: 'warn', fields: { destination: id, reason: 'failing' } }])
  })

  it('writes only the records that are needed', async () => {
    const installation = new Installation(afterSteps)
    const process = await installation.process()
    for (let count = 0; count < 60; count++) {
      process.watch.attempted(id, urls, 'fails')
      process.watch.attempted(id, urls, 'nothing')
      await installation.harness.advance(step)
    }
    expect(installation.records()).toBe(21)
  })

  it('a success of another process ends the failure immediately', async () => {
    const installation = new Installation(afterSteps)
    const [a, b] = [await installation.process(), await installation.process()]
    await failFor(installation, [a], 70)
    b.watch.attempted(id, urls, 'works')
    await installation.harness.advance(1)
    expect(installation.state(a.store)).toMatchObject({ failingSince: undefined, attempts: 0 })
    await failFor(installation, [a, b], 70)
    expect(installation.state(a.store)?.disabled).toBeUndefined()
  })

  it('a success while the first failure is being written ends it', async () => {
    const installation = new Installation(afterSteps)
    const [a, b] = [await installation.process(), await installation.process()]
    a.watch.attempted(id, urls, 'fails')
    await installation.clock.advance(5 * second)
    b.watch.attempted(id, urls, 'works')
    await installation.harness.advance(1)
    expect(installation.records()).toBe(2)
    expect(installation.state(a.store)).toMatchObject({ failingSince: undefined })
  })

  it('successes write nothing while nothing fails', async () => {
    const installation = new Installation(afterSteps)
    const process = await installation.process()
    for (let count = 0; count < 10; count++) {
      process.watch.attempted(id, urls, 'fails')
      process.watch.attempted(id, urls, 'works')
      await installation.harness.advance(step)
    }
    expect(installation.records()).toBe(0)
  })

  it('writes nothing while it fails only sometimes', async () => {
    const installation = new Installation(afterSteps)
    const [a, b] = [await installation.process(), await installation.process()]
    for (let count = 0; count < 60; count++) {
      for (const { watch } of [a, b]) watch.attempted(id, urls, 'works')
      for (const { watch } of [a, b]) watch.attempted(id, urls, 'fails')
      await installation.harness.advance(step)
    }
    expect(installation.records()).toBe(0)
    await failFor(installation, [a, b], 6)
    expect(installation.state(a.store)?.failingSince).toBeDefined()
  })

  it('writes seldom when it always fails at one process and works at another', async () => {
    const installation = new Installation(afterSteps)
    const [a, b] = [await installation.process(), await installation.process()]
    for (let count = 0; count < 60; count++) {
      a.watch.attempted(id, urls, 'fails')
      b.watch.attempted(id, urls, 'works')
      await installation.harness.advance(step)
    }
    expect(installation.records()).toBeLessThan(30)
  })

  it('is recorded within 5 s although 100 others fail too', async () => {
    const installation = new Installation(afterSteps)
    const { watch, store } = await installation.process()
    for (let count = 0; count < 100; count++) watch.attempted(`other-${count}`, urls, 'fails')
    watch.attempted(id, urls, 'fails')
    await installation.harness.advance(5 * second)
    expect(installation.state(store)?.failingSince).toBeDefined()
  })

  it.each<[string, (settings: Settings) => Settings]>([
    ['it is paused', settings => changed(settings, { paused: true })],
    ['it is disabled', settings => changed(settings, { enabled: false })],
    ['it is removed', settings => ({ ...settings, destinations: [] })],
    ['it has no lifecycle', settings => withLifecycle({}, settings)],
    ['it has another URL', () => withLifecycle(afterSteps, fileSettings({ destinations: [moved] }))],
  ])('begins anew after %s', async (_, change) => {
    const installation = new Installation(afterSteps)
    const process = await installation.process()
    await failFor(installation, [process], 70)
    const before = installation.file
    installation.file = change(before)
    await installation.harness.advance(step)
    installation.file = before
    await failFor(installation, [process], 72)
    expect(installation.state(process.store)?.disabled).toBeUndefined()
    await failFor(installation, [process], 8)
    expect(installation.state(process.store)?.disabled).toMatchObject({ reason: 'failing' })
  })

  it('keeps its time while its file cannot be read', async () => {
    const installation = new Installation(afterSteps)
    const process = await installation.process()
    await failFor(installation, [process], 70)
    const before = installation.file
    installation.file = changed(before, { isPlaceholder: true, paused: true, webhooks: [] })
    await installation.harness.advance(step)
    installation.file = before
    await failFor(installation, [process], 3)
    expect(installation.state(process.store)?.disabled).toMatchObject({ reason: 'failing' })
  })

  it('is written again when Kafka accepts no record', async () => {
    const installation = new Installation(afterSteps)
    const process = await installation.process()
    installation.harness.log.unwritable.add(configTopic)
    process.watch.attempted(id, urls, 'fails')
    await installation.harness.advance(20 * second)
    expect(process.lines).toMatchObject([{ level: 'warn', fields: { destination: id } }])
    installation.harness.log.unwritable.clear()
    await installation.harness.advance(step)
    expect(installation.state(process.store)?.failingSince).toBeDefined()
  })
})

describe('a destination whose webhooks are gone', () => {
  it('is disabled within 5 s with onGone: disable, and enabled again by an operator', async () => {
    const installation = new Installation({ onGone: 'disable' })
    const [a, b] = [await installation.process(), await installation.process()]
    a.watch.gone(id, webhook)
    await installation.harness.advance(5 * second)
    expect(b.merged().settings.destinations[0]).toMatchObject({
      enabled: false,
      disabledAutomatically: { reason: 'gone' },
    })
    await installation.harness.advance(step)
    const outcome = await installation.harness.settled(b.objects.enableAgain(id, 'ada'))
    expect(outcome).toMatchObject({ kind: 'changed', changedFields: ['enabled'] })
    expect(outcome).toMatchObject({ object: { origin: 'file', disabledAutomatically: undefined } })
    await installation.harness.advance(1)
    expect(a.merged().settings.destinations[0]).toMatchObject({ enabled: true })
    const { changes } = a.objects.changes()
    expect(changes).toMatchObject([{ by: 'ada', fields: ['enabled'] }, { by: 'hookline.lifecycle' }])
    expect(await installation.harness.settled(a.objects.enableAgain(id, 'ada'))).toMatchObject({ kind: 'unchanged' })
  })

  it('is reported once when the process reads the record too late', async () => {
    const installation = new Installation({ onGone: 'disable' })
    const process = await installation.process()
    const reported: unknown[] = []
    process.watch.onDisabled((destination, { reason }) => reported.push([destination, reason]))
    process.follower.isCutOff = true
    process.watch.gone(id, webhook)
    await installation.harness.advance(30 * second)
    expect(reported).toEqual([])
    process.follower.isCutOff = false
    await installation.harness.advance(step)
    expect(reported).toEqual([[id, 'gone']])
    expect(installation.state(process.store)?.disabled).toMatchObject({ reason: 'gone' })
  })

  it('is only counted without onGone: disable', async () => {
    const installation = new Installation(afterSteps)
    const process = await installation.process()
    process.watch.gone(id, webhook)
    await installation.harness.advance(step)
    expect(process.merged().settings.destinations[0]).toMatchObject({ enabled: true })
    expect(installation.records()).toBe(0)
  })
})

describe('a destination that Hookline has disabled', () => {
  it('is enabled by other URLs, and stays enabled with the old ones', async () => {
    const installation = new Installation({ onGone: 'disable' })
    const process = await installation.process()
    process.watch.gone(id, webhook)
    await installation.harness.advance(5 * second)
    const before = installation.file
    installation.file = withLifecycle({ onGone: 'disable' }, fileSettings({ destinations: [moved] }))
    await installation.harness.advance(step)
    installation.file = before
    expect(process.merged().settings.destinations[0]).toMatchObject({ enabled: true })
  })
})

const moved = { id, sources: ['web'], webhooks: [{ url: 'https://moved.example.com/' }] }

const changed = (settings: Settings, change: Partial<Settings['destinations'][number]>): Settings => ({
  ...settings,
  destinations: settings.destinations.map(destination => ({ ...destination, ...change })),
})
