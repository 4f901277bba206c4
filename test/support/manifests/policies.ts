import { installationPolicies } from './installation-policies.ts'
import { podPolicies } from './pod-policies.ts'
import type { Policy } from './policy.ts'

/** What has to hold of every rendering, whatever its switches: the checks of kube-linter that concern us, and our own. */
export const policies: readonly Policy[] = [...podPolicies, ...installationPolicies]
