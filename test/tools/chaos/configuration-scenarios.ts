import {
  breakConfiguration,
  editConfiguration,
  rotateSecret,
  signature,
  signedConfiguration,
  takesOnly,
} from './configuration-faults.ts'
import { judgeConfiguration } from './configuration-verdict.ts'
import type { Scenario } from './scenario.ts'
import { crm, standardSetup, times } from './setups.ts'

const rotations = 4
const editions = 6

export const configurationScenarios: readonly Scenario[] = [
  {
    ...standardSetup,
    name: 'configuration',
    shows:
      'under load, the secret is rotated four times, and the configuration file is edited five times and truncated twice',
    load: { perSecond: 300, seconds: 20 },
    destinations: [{ ...crm, script: takesOnly(1), inspection: signature }],
    configuration: signedConfiguration,
    faults: [
      ...[rotateSecret(crm.id), editConfiguration, breakConfiguration(4), rotateSecret(crm.id), editConfiguration],
      ...times(2, editConfiguration),
      ...[rotateSecret(crm.id), breakConfiguration(4), rotateSecret(crm.id), editConfiguration],
    ],
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 5_000 },
    examine: async ({ ledger: { calls } }) =>
      judgeConfiguration({ destination: crm.id, calls, secrets: 1 + rotations, editions }),
  },
]
