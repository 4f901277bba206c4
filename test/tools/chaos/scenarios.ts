import { audienceScenarios } from './audience-scenarios.ts'
import { brokerScenarios } from './broker-scenarios.ts'
import { changesScenarios } from './changes-scenarios.ts'
import { clockScenarios } from './clock-scenarios.ts'
import { collectorScenarios } from './collector-scenarios.ts'
import { configurationScenarios } from './configuration-scenarios.ts'
import { endpointScenarios } from './endpoint-scenarios.ts'
import { jobsScenarios } from './jobs-scenarios.ts'
import { answerScenarios, linkScenarios } from './link-scenarios.ts'
import { mixedScenarios } from './mixed-scenarios.ts'
import { processScenarios } from './process-scenarios.ts'
import { retentionScenarios } from './retention-scenarios.ts'
import type { AudienceScenario, ChangesScenario, JobsScenario, Scenario, SoakScenario } from './scenario.ts'
import { soakScenarios } from './soak-scenarios.ts'
import { unusualLoadScenarios } from './unusual-load-scenarios.ts'
import { topicScenarios } from './unwritable-topic-scenarios.ts'

export type AnyScenario = Scenario | AudienceScenario | ChangesScenario | JobsScenario | SoakScenario

/** All scenarios, in the order of the results table (docs/reliability/README.md). */
export const scenarios: readonly AnyScenario[] = [
  ...processScenarios,
  ...brokerScenarios,
  ...linkScenarios,
  ...answerScenarios,
  ...topicScenarios,
  ...mixedScenarios,
  ...endpointScenarios,
  ...unusualLoadScenarios,
  ...clockScenarios,
  ...retentionScenarios,
  ...configurationScenarios,
  ...collectorScenarios,
  ...audienceScenarios,
  ...jobsScenarios,
  ...changesScenarios,
  ...soakScenarios,
]
