import type { ServiceName } from '../settings/service-names.ts'
import type { TopicNames } from '../topics.ts'
import type { DurationMs } from '../units.ts'
import { type Judgement, numbered } from './finding.ts'

/** Something that a service has to be allowed. */
export interface Access {
  readonly to: 'read' | 'write' | 'join'
  /** A topic; to `join`: a consumer group. */
  readonly name: string
}

export interface AccessNeeds {
  readonly topics: TopicNames
  readonly tiers: readonly DurationMs[]
  readonly services: ReadonlySet<ServiceName>
  /** Whether the collector takes operators' requests. */
  readonly hasOperator: boolean
  readonly hasAttempts: boolean
  /** Whether the dispatcher sends heartbeats. */
  readonly hasCanary: boolean
}

/** Everything that these services read, write and join, each once. */
export function accessNeeded({ topics, tiers, services, ...has }: AccessNeeds): readonly Access[] {
  const { events, deadLetter, rejected, audienceInput, memberships, suppressions, deletions, attempts } = topics
  const retries = tiers.map(topics.retry)
  const operator: Needs = {
    read: [audienceInput, deletions],
    write: [audienceInput, suppressions, deletions],
    join: [],
  }
  const needs: Readonly<Record<ServiceName, Needs>> = {
    collector: {
      read: [suppressions, ...(has.hasOperator ? operator.read : [])],
      write: [events, rejected, ...(has.hasOperator ? operator.write : [])],
      join: [],
    },
    dispatcher: {
      read: [events, ...retries, suppressions],
      write: [
        ...[...retries, deadLetter, audienceInput, deletions, suppressions],
        ...(has.hasAttempts ? [attempts] : []),
        ...(has.hasCanary ? [events] : []),
      ],
      join: [topics.dispatcherGroup, topics.retriesGroup],
    },
    audiences: {
      read: [audienceInput, memberships, suppressions],
      write: [events, memberships, deadLetter],
      join: [topics.audiencesGroup],
    },
  }
  const asked = [...services].map(service => needs[service])
  return (['read', 'write', 'join'] as const).flatMap(to =>
    [...new Set(asked.flatMap(need => need[to]))].map(name => ({ to, name })),
  )
}

type Needs = Readonly<Record<Access['to'], readonly string[]>>

/** An ACL's operation for each. */
const operations = { read: 'READ and DESCRIBE', write: 'WRITE and DESCRIBE', join: 'READ' } as const

/** One line for what is not allowed each; or one that says that all is. */
export function judgeAccess(needed: readonly Access[], refused: ReadonlySet<Access>): readonly Judgement[] {
  const count = (to: Access['to']): number => needed.filter(access => access.to === to).length
  if (refused.size === 0) {
    const detail = `may read ${numbered(count('read'), 'topic')}, write ${count('write')} and join ${numbered(count('join'), 'group')}`
    return [{ level: 'ok', detail }]
  }
  return [...refused].map(({ to, name }) => ({
    level: 'fail',
    which: name,
    detail: `this client may not ${to} it`,
    remedy: `an ACL has to allow ${operations[to]} on the ${to === 'join' ? 'group' : 'topic'}`,
  }))
}
