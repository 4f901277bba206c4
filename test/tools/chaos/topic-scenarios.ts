import { durationMs } from '../../../src/core/units.ts'
import type { Scenario } from './scenario.ts'
import { crm, standard } from './setups.ts'
import { forbidden, missing, type Refuge, unwritable } from './topic-faults.ts'

/** Of the schedule's first wait. */
const retryTopic: Refuge = { topicOf: ({ pipeline }) => pipeline.topics.retry(durationMs(2_000)), status: 503 }
const deadLetterTopic: Refuge = { topicOf: ({ pipeline }) => pipeline.topics.deadLetter, status: 400 }

const withRules = {
  ...standard,
  processes: 2,
  destinations: [crm, { id: 'moody' }],
  load: { perSecond: 200, seconds: 10 },
  brokerProperties: {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': 'true',
  },
  // A record that waits for its topic tries again after ten seconds at the latest.
  limits: { duplicates: 0, recoveryMs: 30_000, latestMs: 30_000 },
} as const
const inTurn = (refuge: Refuge) => [missing, forbidden].map(obstacle => unwritable(obstacle, refuge, 5))

export const ofTopics: readonly Scenario[] = [
  {
    ...withRules,
    name: 'retry-topic-unwritable',
    shows: 'a retry topic is missing, then not authorised, while one call in twenty answers 503',
    faults: inTurn(retryTopic),
  },
  {
    ...withRules,
    name: 'dead-letter-unwritable',
    shows: 'the dead-letter topic is missing, then not authorised, while one call in twenty answers 400',
    faults: inTurn(deadLetterTopic),
  },
]
