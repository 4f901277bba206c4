import { setTimeout as delay } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import { epochMs } from '../../../src/core/units.ts'
import { allPartitions, onPartitions } from './faults.ts'
import { isSuccess } from './ledger.ts'
import type { Fault } from './scenario.ts'
import type { World } from './world.ts'

/** What is done to a topic, from outside, so that it takes no records, and what puts it right. */
interface Obstacle {
  readonly name: string
  /** Resolves with what mends it. */
  obstruct(world: World, topic: string): Promise<() => Promise<unknown>>
}

/** Nothing may be in it: whatever was goes with it. */
export const missing: Obstacle = {
  name: 'missing',
  async obstruct({ view: { admin }, pipeline }, topic) {
    await admin.deleteTopics({ topics: [topic] })
    return () => pipeline.command('topics', 'apply')
  },
}

/** Needs a broker with an authorizer that allows what no rule forbids. */
export const forbidden: Obstacle = {
  name: 'not authorised',
  async obstruct({ view: { admin } }, resourceName) {
    const { AclResourceTypes, ResourcePatternTypes, AclOperationTypes, AclPermissionTypes } = kafkajs
    const topic = {
      resourceType: AclResourceTypes.TOPIC,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      resourceName,
    }
    const everybody = { ...topic, principal: 'User:*', host: '*' }
    // With a rule for it, a topic is closed but for what rules allow.
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

/** Where records go that cannot be delivered now, and what an endpoint answers for them to go there. */
export interface Refuge {
  readonly topicOf: (world: World) => string
  readonly status: number
}

/** What the destination that fails is called; no endpoint of it may fail otherwise. */
const failing = 'moody'
const alarmMs = 30_000

const now = (): number => performance.now()

/**
 * A topic takes no records while one call in twenty fails, so that it is needed. The alarm has to be raised, and for so many seconds nothing
 * may be committed past a record that waits for the topic. Then all is well, and the alarm has to end.
 */
export const unwritable = (obstacle: Obstacle, { topicOf, status }: Refuge, seconds: number): Fault => ({
  name: `topic ${obstacle.name}`,
  async inject(world) {
    const { receiver, patience } = world
    const topic = topicOf(world)
    const at = now()
    const mend = await obstacle.obstruct(world, topic)
    receiver.follow(failing, (id, call) => (call === 1 && Number(id.slice(2)) % 20 === 7 ? status : 200))
    const isRaised = await untilAlarm(world, numbers => numbers.some(number => number > 0))
    const problems = isRaised ? [] : [`no process has raised an alarm although ${topic} takes no records`]
    await delay(seconds * 1_000 * patience)
    problems.push(...(await passedBy(world, at)))
    receiver.follow(failing, () => 200)
    await mend()
    const from = now()
    return {
      what: topic.replace(/^test-[^.]+\./, ''),
      at,
      recovery: onPartitions(allPartitions, from, ({ destination }) => destination === failing),
      problems,
      heal: async () =>
        (await untilAlarm(world, numbers => numbers.every(number => number === 0)))
          ? []
          : [`the alarm went on although ${topic} takes records again`],
    }
  },
})

/** `hookline_unwritable_topics` of all processes. */
async function untilAlarm(world: World, isSo: (numbers: readonly number[]) => boolean): Promise<boolean> {
  const { fleet, patience } = world
  const deadline = now() + alarmMs * patience
  const number = async ({ service }: ReturnType<typeof fleet.members>[number]): Promise<number> =>
    (await service.metrics()).get('hookline_unwritable_topics') ?? 0
  while (now() < deadline) {
    if (isSo(await Promise.all(fleet.members().map(number)))) return true
    await delay(250)
  }
  return false
}

/** Records that had to go to the topic, which did not take them, and that were committed nevertheless. */
async function passedBy({ ledger, pipeline, view }: World, since: number): Promise<string[]> {
  const { events, dispatcherGroup } = pipeline.topics
  const calls = ledger.calls.filter(({ destination, at }) => destination === failing && at >= since)
  const delivered = new Set(calls.filter(isSuccess).map(({ id }) => id))
  const waiting = new Set(calls.map(({ id }) => id).filter(id => !delivered.has(id)))
  if (waiting.size === 0) return ['no call has failed while the topic took no records']
  const committed = await view.committed(dispatcherGroup, events)
  const records = (await pipeline.read(events)).map(({ partition, offset, value }) => {
    const decoded = pipeline.codec.decode(value ?? Buffer.alloc(0), epochMs(0))
    return { partition, offset, id: decoded.kind === 'event' ? decoded.event.message.messageId : '' }
  })
  const passed = committedPast(records, waiting, committed)
  return passed.length === 0 ? [] : [`committed while the topic they wait for took no records: ${passed.join(' ')}`]
}

interface Placed {
  readonly id: string
  readonly partition: number
  readonly offset: number
}

/** Those of `waiting` that lie before the committed offset of their partition: the next that is read after a crash. */
export const committedPast = (
  records: readonly Placed[],
  waiting: ReadonlySet<string>,
  committed: ReadonlyMap<number, number>,
): readonly string[] =>
  records
    .filter(({ id, partition, offset }) => waiting.has(id) && offset < (committed.get(partition) ?? 0))
    .map(({ id }) => id)
