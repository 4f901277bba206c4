import { setTimeout as delay } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import { epochMs } from '../../../src/core/time.ts'
import { isSuccess } from './message-ledger.ts'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import type { Fault } from './scenario.ts'
import type { World } from './world.ts'

interface TopicFault {
  readonly name: string
  /** Resolves with the function that repairs the topic. */
  obstruct(world: World, topic: string): Promise<() => Promise<unknown>>
}

/** Deletes the topic. All records in it are lost, so it must be empty. */
export const missing: TopicFault = {
  name: 'missing',
  async obstruct({ view: { admin }, installation }, topic) {
    await admin.deleteTopics({ topics: [topic] })
    return () => installation.command('topics', 'apply')
  },
}

/**
 * Forbids everybody to write to the topic. Needs a broker whose authorizer allows everything on
 * topics without an ACL.
 */
export const forbidden: TopicFault = {
  name: 'not authorised',
  async obstruct({ view: { admin } }, resourceName) {
    const { AclResourceTypes, ResourcePatternTypes, AclOperationTypes, AclPermissionTypes } = kafkajs
    const topic = {
      resourceType: AclResourceTypes.TOPIC,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      resourceName,
    }
    const everybody = { ...topic, principal: 'User:*', host: '*' }
    // As soon as a topic has an ACL, the broker denies everything that no ACL allows, so one ACL
    // allows all operations.
    await admin.createAcls({
      acl: [
        { ...everybody, operation: AclOperationTypes.ALL, permissionType: AclPermissionTypes.ALLOW },
        { ...everybody, operation: AclOperationTypes.WRITE, permissionType: AclPermissionTypes.DENY },
      ],
    })
    const all = { ...topic, operation: AclOperationTypes.ANY, permissionType: AclPermissionTypes.ANY }
    return () => admin.deleteAcls({ filters: [all] })
  },
}

/** A topic that Hookline needs for deliveries to which the endpoint responds with `status`. */
export interface OverflowTopic {
  readonly topicOf: (world: World) => string
  readonly status: number
}

/**
 * The destination whose endpoint responds with `status`. Messages that the endpoint has not
 * accepted count as waiting for the topic.
 */
const failing = 'moody'
const metricTimeoutMs = 30_000

/**
 * Makes a topic reject records while one message in twenty needs it. No partition may be committed
 * beyond a record that waits for the topic.
 */
export const unwritable = (obstacle: TopicFault, { topicOf, status }: OverflowTopic, seconds: number): Fault => ({
  name: `topic ${obstacle.name}`,
  async inject(world) {
    const { receiver, patience } = world
    const topic = topicOf(world)
    const at = now()
    const repair = await obstacle.obstruct(world, topic)
    receiver.follow(failing, (id, call) => (call === 1 && Number(id.slice(2)) % 20 === 7 ? status : 200))
    const isReported = await untilMetric(world, numbers => numbers.some(number => number > 0))
    const problems = isReported ? [] : [`hookline_unwritable_topics is 0, although ${topic} accepts no records`]
    await delay(seconds * 1_000 * patience)
    problems.push(...(await committedWithoutTopic(world, at)))
    receiver.follow(failing, () => 200)
    await repair()
    const from = now()
    return {
      what: topic.replace(/^test-[^.]+\./, ''),
      at,
      recovery: onPartitions(allPartitions, from, ({ destination }) => destination === failing),
      problems,
      heal: async () =>
        (await untilMetric(world, numbers => numbers.every(number => number === 0)))
          ? []
          : [`hookline_unwritable_topics is not 0, although ${topic} accepts records again`],
    }
  },
})

/** Resolves with false after the time limit. */
async function untilMetric(world: World, isSo: (numbers: readonly number[]) => boolean): Promise<boolean> {
  const { fleet, patience } = world
  const deadline = now() + metricTimeoutMs * patience
  const number = async ({ service }: ReturnType<typeof fleet.members>[number]): Promise<number> =>
    (await service.metrics()).get('hookline_unwritable_topics') ?? 0
  while (now() < deadline) {
    if (isSo(await Promise.all(fleet.members().map(number)))) return true
    await delay(250)
  }
  return false
}

async function committedWithoutTopic({ ledger, installation, view }: World, since: number): Promise<string[]> {
  const { events, dispatcherGroup } = installation.topics
  const calls = ledger.calls.filter(({ destination, at }) => destination === failing && at >= since)
  const delivered = new Set(calls.filter(isSuccess).map(({ id }) => id))
  const waiting = new Set(calls.map(({ id }) => id).filter(id => !delivered.has(id)))
  if (waiting.size === 0) return ['no request failed while the topic accepted no records']
  const committed = await view.committed(dispatcherGroup, events)
  const records = (await installation.read(events)).map(({ partition, offset, value }) => {
    const decoded = installation.codec.decode(value ?? Buffer.alloc(0), epochMs(0))
    return { partition, offset, id: decoded.kind === 'event' ? decoded.event.message.messageId : '' }
  })
  const passed = committedPast(records, waiting, committed)
  return passed.length === 0 ? [] : [`committed while their topic accepted no records: ${passed.join(' ')}`]
}

interface Placed {
  readonly id: string
  readonly partition: number
  readonly offset: number
}

/**
 * Returns the ids of `waiting` whose records are before the committed offset. A restarted process
 * would skip them.
 */
export const committedPast = (
  records: readonly Placed[],
  waiting: ReadonlySet<string>,
  committed: ReadonlyMap<number, number>,
): readonly string[] =>
  records
    .filter(({ id, partition, offset }) => waiting.has(id) && offset < (committed.get(partition) ?? 0))
    .map(({ id }) => id)
