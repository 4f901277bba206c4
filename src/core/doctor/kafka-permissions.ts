import { countWithNoun } from '../count-with-noun.ts'
import type { ServiceName } from '../settings/service-names.ts'
import type { DurationMs } from '../time.ts'
import type { TopicNames } from '../topics.ts'
import type { Judgement } from './finding.ts'

/** A permission that a service needs. */
export interface Access {
  readonly to: 'read' | 'write' | 'join'
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
  /** The permissions to show the status, the ledger, timelines, dead letters and audiences. */
  const status: Pick<Needs, 'read' | 'join'> = {
    read: [...retries, ledger, events, deadLetter, memberships, ...(has.hasAttempts ? [attempts] : [])],
    join: [topics.dispatcherGroup, topics.retriesGroup, topics.audiencesGroup],
  }
  /**
   * A replay reads dead letters and writes their tombstones. A resend reads events. Both write
   * retry records.
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
        // For each destination with `lifecycle`, the dispatcher writes the failure state to the
        // config topic.
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
