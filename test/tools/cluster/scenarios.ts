import { nodePressureScenario } from './disk-pressure-scenario.ts'
import { upgradeScenario } from './earlier-release-upgrade-scenario.ts'
import { ingressScenario } from './ingress-scenario.ts'
import {
  drainScenario,
  kafkaAwayScenario,
  killScenario,
  outOfMemoryScenario,
  registryAwayScenario,
} from './kill-drain-and-outage-scenarios.ts'
import { networkPolicyScenario } from './network-policy-scenario.ts'
import { operatorScenario } from './operator-api-changes-scenario.ts'
import type { Scenario } from './run-scenario.ts'
import { scaleOnCpuScenario } from './scale-on-cpu-scenario.ts'
import { scaleOnLagScenario } from './scale-on-lag-scenario.ts'
import { scaleScenario } from './scale-scenario.ts'
import {
  liveChangesScenario,
  smallerRequestsScenario,
  updateAndRollbackScenario,
  wrongConfigurationScenario,
} from './update-and-configuration-scenarios.ts'

export const scenarios: readonly Scenario[] = [
  smallerRequestsScenario,
  updateAndRollbackScenario,
  drainScenario,
  killScenario,
  outOfMemoryScenario,
  liveChangesScenario,
  wrongConfigurationScenario,
  registryAwayScenario,
  kafkaAwayScenario,
  scaleScenario,
  scaleOnLagScenario,
  scaleOnCpuScenario,
  operatorScenario,
  networkPolicyScenario,
  upgradeScenario,
  ingressScenario,
  // This scenario is the last one: it may evict the registry, which then has no schemas.
  nodePressureScenario,
]
