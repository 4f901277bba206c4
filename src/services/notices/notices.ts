import { urlHashesOf } from '../../core/auto-disable/judge-failures.ts'
import type { ObjectChange } from '../../core/config-objects/config-objects.ts'
import { changesNothing } from '../../core/config-objects/recent-changes.ts'
import type { Routing } from '../../core/delivery/route.ts'
import type { Event } from '../../core/message/event.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { type DestinationFacts, decodeFacts } from '../../core/notices/destination-facts.ts'
import { factsEvent, type Notice, noticeEvent } from '../../core/notices/notice.ts'
import type { Clock, EventCodec, Logger, LogProducer } from '../../core/ports.ts'
import type { AutomaticDisabling, NoticesSettings } from '../../core/settings/settings.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createPeriodicTask } from '../periodic-task.ts'
import { ConfigurationNotices } from './configuration-change-notices.ts'
import { DestinationNoticeStates } from './destination-notice-states.ts'
import { CollectedFacts, type DestinationObserver } from './facts-seen-by-this-process.ts'
import { Outbox } from './outbox-of-notices-and-facts.ts'

/** How often a process writes the collected facts and the due notices to the events topic. */
const writeEvery = durationMs(5_000)

interface Deps {
  /** `undefined` if notices are not configured. */
  readonly notices: () => NoticesSettings | undefined
  readonly routing: () => Routing
  /** The partitions of the events topic that this process owns. */
  readonly processors: () => Iterable<PartitionProcessor>
  /** Whether this process reports changes of the configuration. At most one process does this. */
  readonly reportsConfigurationChanges: () => boolean
  readonly codec: Pick<EventCodec, 'encode'>
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'events'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** The notices of one process about destinations and the configuration. */
export interface Notices {
  readonly observer: DestinationObserver
  /**
   * Called for each event that contains facts about a destination and was read from the partition
   * of `processor`. Must not throw.
   */
  factsRead(event: Event, processor: PartitionProcessor): void
  configurationChanged(change: ObjectChange): void
  /**
   * Called when this process has disabled a destination. Only this process writes a notice about
   * it.
   */
  disabled(destination: string, automatically: AutomaticDisabling): void
  /**
   * Called when the partition is revoked. Writes the partition's unreported facts to the events
   * topic again, so that the next owner of the partition reads them.
   */
  handOver(processor: PartitionProcessor): void
  start(): void
  /** Stops, and writes the facts and notices that are not written yet. */
  stop(): void
}

/*
 * Each process writes what it sees about destinations to the events topic. The owner of a
 * destination's partition reads these facts, and decides about notices.
 *
 *   observer --every 5 s--> Outbox --facts--> events topic --> factsRead
 *   factsRead, every 5 s --DestinationNotices--> Outbox --notice--> events topic --> destination
 */
export function createNotices(deps: Deps): Notices {
  const { routing, clock, metrics } = deps
  /**
   * The settings of notices; `undefined` if notices are not configured, or their destination does
   * not exist yet.
   */
  const notices = (): NoticesSettings | undefined => {
    const settings = deps.notices()
    return settings !== undefined && isKnown(deps)(settings.destination) ? settings : undefined
  }
  const isObserved = (id: string): boolean => {
    const settings = notices()
    return settings !== undefined && settings.destination !== id
  }
  const collected = new CollectedFacts(isObserved)
  const configuration = new ConfigurationNotices()
  const states = new DestinationNoticeStates()
  const outbox = new Outbox(deps)
  const add = createAdd(outbox, clock)
  const eventsOf = createEventsOf(clock)

  function run(): DurationMs {
    const settings = notices()
    configuration.find(routing(), clock.now())
    if (settings === undefined) {
      configuration.take()
      collected.clear()
      outbox.clear()
      return writeEvery
    }
    for (const event of eventsOf(collected.take(outbox.room))) outbox.add(event)
    const context = { isKnown: isKnown(deps), hasRoom: () => outbox.room > 0, now: clock.now() }
    add(states.takeDue(deps.processors(), context), settings)
    if (deps.reportsConfigurationChanges()) add(configuration.take(), settings)
    outbox.send()
    return writeEvery
  }

  const task = createPeriodicTask({ clock, firstRunAfter: writeEvery, run })
  return {
    observer: collected,
    factsRead({ message }, processor) {
      const settings = notices()
      const facts = decodeFacts(message.properties)
      if (settings === undefined || facts === undefined) return
      const about = routing().destinations.get(facts.destination)
      if (about === undefined || !isObserved(facts.destination)) return
      const now = clock.now()
      const state = states.observe(facts, message.messageId, { processor, urlHashes: urlHashesOf(about), now })
      if (outbox.room === 0) return
      add(state.takeDue(now), settings)
      outbox.send()
    },
    configurationChanged(change) {
      if (notices() === undefined || changesNothing(change) || configuration.changed(change)) return
      metrics.notices.inc({ result: 'dropped' })
    },
    disabled(destination, automatically) {
      const settings = notices()
      if (settings !== undefined)
        add([{ kind: 'disabled', destination, at: automatically.at, automatically }], settings)
      outbox.send()
    },
    handOver(processor) {
      if (notices() !== undefined) outbox.sendAll(eventsOf(states.takeUnreported(processor)))
    },
    start() {
      configuration.find(routing(), clock.now())
      configuration.take()
      task.start()
    },
    stop() {
      task.stop()
      run()
      outbox.sendAll(eventsOf(collected.take(Number.POSITIVE_INFINITY)))
    },
  }
}

const createEventsOf = (clock: Clock) =>
  function* (all: Iterable<DestinationFacts>): Generator<Event> {
    for (const facts of all) yield factsEvent(facts, clock.id(), clock.now())
  }

/**
 * Returns a function that adds notices to the outbox, except those about the destination that
 * receives notices.
 */
const createAdd =
  (outbox: Outbox, clock: Clock) =>
  (due: Iterable<Notice>, { destination: to }: NoticesSettings): void => {
    for (const notice of due) if (!isAbout(notice, to)) outbox.add(noticeEvent(notice, to, clock.now()))
  }

const isKnown =
  ({ routing }: Pick<Deps, 'routing'>) =>
  (id: string): boolean =>
    routing().destinations.has(id)

/**
 * Whether a notice is about the destination that receives notices. Sending it could cause another
 * notice.
 */
const isAbout = (notice: Notice, id: string): boolean =>
  notice.kind === 'configuration_changed'
    ? notice.change.kind === 'destination' && notice.change.id === id
    : notice.destination === id
