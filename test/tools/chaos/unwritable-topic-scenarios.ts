import { durationMs } from '../../../src/core/time.ts'
import type { Scenario } from './scenario.ts'
import { crm, standardSetup } from './setups.ts'
import { forbidden, missing, type OverflowTopic, unwritable } from './unwritable-topic-faults.ts'

const retryTopic: OverflowTopic = {
  topicOf: ({ installation }) => installation.topics.retry(durationMs(2_000)),
  status: 503,
}
const deadLetterTopic: OverflowTopic = { topicOf: ({ installation }) => installation.topics.deadLetter, status: 400 }

const withRules = {
  ...standardSetup,
  processes: 2,
  destinations: [crm, { id: 'moody' }],
  load: { perSecond: 200, seconds: 10 },
  brokerProperties: {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': 'true',
  },
  // Recovery is slow, because Hookline may wait ten seconds before it repeats a rejected write.
  limits: { duplicates: 0, recoveryMs: 30_000, latestMs: 30_000, unreadyMs: 60_000 },
} as const
const inTurn = (refuge: OverflowTopic) => [missing, forbidden].map(obstacle => unwritable(obstacle, refuge, 5))

export const topicScenarios: readonly Scenario[] = [
  {
    ...withRules,
    name: 'retry-topic-unwritable',
    shows:
      'a retry topic is deleted; after it is created again, an ACL forbids writes to it; one request in twenty gets a 503',
    faults: inTurn(retryTopic),
  },
  {
    ...withRules,
    name: 'dead-letter-unwritable',
    shows:
      'the dead-letter topic is deleted; after it is created again, an ACL forbids writes to it; one request in twenty gets a 400',
    faults: inTurn(deadLetterTopic),
  },
]
