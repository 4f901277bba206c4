import { countWithNoun } from '../count-with-noun.ts'
import type { ServiceName } from '../settings/service-names.ts'
import type { DurationMs } from '../time.ts'
import type { TopicNames } from '../topics.ts'
import type { Judgement } from './finding.ts'

/** A permission that a service needs. */
export interface Access {
  readonly to: 'read' | 'write' | 'join'
  /** The name of a topic, or of a consumer group to `join`. */
  readonly name: string
}

export interface AccessNeeds {
  readonly topics: TopicNames
  readonly tiers: readonly DurationMs[]
  readonly services: ReadonlySet<ServiceName>
  /** Whether the collector has the deprecated operator API (`collector.operatorKey`). */
  readonly hasOperatorKey: boolean
  readonly hasAttempts: boolean
  /** Whether the dispatcher sends canary messages. */
  readonly hasCanary: boolean
  /** Whether the dispatcher sends notices. */
  readonly hasNotices?: boolean
  /** Whether the installation has a config topic. */
  readonly hasConfigTopic?: boolean
  /**
   * Whether the installation has a jobs topic, which stores the jobs that replay or resend events.
   */
  readonly hasJobs?: boolean
}

/** All permissions that the services need, each once. */
export function accessNeeded({ topics, tiers, services, ...has }: AccessNeeds): readonly Access[] {
  const {
    events,
    deadLetter,
    rejected,
    audienceInput,
    memberships,
    suppressions,
    deletions,
    attempts,
    ledger,
    status: statusTopic,
  } = topics
  const config = has.hasConfigTopic === true ? [topics.config] : []
  const retries = tiers.map(topics.retry)
  const operator: Needs = {
    read: [suppressions, audienceInput, deletions],
    write: [events, audienceInput, suppressions, deletions],
    join: [],
  }
  /**
   * Permissions of the operator service to show data of Kafka. For the status and the ledger, it
   * reads the committed offsets of all groups and the records in retry topics. For the ledger, it
   * also reads the ledger topic. For timelines and dead letters, it also reads the events, attempts
   * and dead-letter topics, and for the list of audiences the memberships topic.
   */
  const status: Pick<Needs, 'read' | 'join'> = {
    read: [...retries, ledger, events, deadLetter, memberships, ...(has.hasAttempts ? [attempts] : [])],
    join: [topics.dispatcherGroup, topics.retriesGroup, topics.audiencesGroup],
  }
  /**
   * Permissions of the operator service to run jobs. A replay reads dead letters and writes their
   * tombstones. A resend reads events. Both write retry records.
   */
  const jobs: Pick<Needs, 'read' | 'write'> =
    has.hasJobs === true
      ? { read: [topics.jobs, events, deadLetter], write: [topics.jobs, deadLetter, ...retries] }
      : { read: [], write: [] }
  const needs: Readonly<Record<ServiceName, Needs>> = {
    collector: {
      read: [suppressions, ...config, ...(has.hasOperatorKey ? operator.read : [])],
      write: [events, rejected, statusTopic, ...(has.hasOperatorKey ? operator.write : [])],
      join: [],
    },
    dispatcher: {
      read: [events, ...retries, suppressions, ...config],
      write: [
        ...[...retries, deadLetter, audienceInput, deletions, suppressions, statusTopic, ledger],
        ...(has.hasAttempts ? [attempts] : []),
        ...(has.hasCanary || has.hasNotices === true ? [events] : []),
        // For each destination with `lifecycle`, the dispatcher writes two facts to the config
        // topic: the time since which all attempts have failed, and whether Hookline has disabled
        // the destination.
        ...config,
      ],
      join: [topics.dispatcherGroup, topics.retriesGroup],
    },
    audiences: {
      read: [audienceInput, memberships, suppressions, ...config],
      write: [events, memberships, deadLetter, statusTopic],
      join: [topics.audiencesGroup],
    },
    operator: {
      read: [...operator.read, ...config, ...status.read, statusTopic, ...jobs.read],
      write: [...operator.write, ...config, statusTopic, ...jobs.write],
      join: status.join,
    },
  }
  const asked = [...services].map(service => needs[service])
  return (['read', 'write', 'join'] as const).flatMap(to =>
    [...new Set(asked.flatMap(need => need[to]))].map(name => ({ to, name })),
  )
}

type Needs = Readonly<Record<Access['to'], readonly string[]>>

/** The ACL operations for each permission. */
const operations = { read: 'READ and DESCRIBE', write: 'WRITE and DESCRIBE', join: 'READ' } as const

/** One line for each missing permission, or one line when all are granted. */
export function judgeAccess(needed: readonly Access[], refused: ReadonlySet<Access>): readonly Judgement[] {
  const count = (to: Access['to']): number => needed.filter(access => access.to === to).length
  if (refused.size === 0) {
    const detail = `this client may read ${countWithNoun(count('read'), 'topic')}, write to ${countWithNoun(count('write'), 'topic')} and join ${countWithNoun(count('join'), 'consumer group')}`
    return [{ level: 'ok', detail }]
  }
  return [...refused].map(({ to, name }) => ({
    level: 'fail',
    which: name,
    detail: `this client has no permission to ${to === 'write' ? 'write to' : to} this ${to === 'join' ? 'consumer group' : 'topic'}`,
    remedy: `add an ACL that allows ${operations[to]} on the ${to === 'join' ? 'consumer group' : 'topic'}`,
  }))
}
