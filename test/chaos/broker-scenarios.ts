import { killBrokers, killCoordinator, killLeader, spoilLink } from './faults.ts'
import type { Scenario } from './scenario.ts'
import { behindProxies, replicated, times } from './setups.ts'

export const ofBrokers: readonly Scenario[] = [
  {
    ...replicated,
    name: 'leader-killed',
    shows: 'SIGKILL of a broker that leads, then it comes back, five times; retries under way',
    faults: times(5, killLeader),
    limits: { duplicates: 'counted', recoveryMs: 30_000 },
  },
  {
    ...replicated,
    name: 'coordinator-killed',
    shows: "SIGKILL of the group's coordinator, then it comes back, three times; retries under way",
    faults: times(3, killCoordinator),
    limits: { duplicates: 'counted', recoveryMs: 15_000 },
  },
  {
    ...replicated,
    name: 'brokers-restarted',
    shows: 'SIGKILL of all three brokers at once, then all come back, twice; retries under way',
    faults: times(2, killBrokers(0)),
    limits: { duplicates: 'counted', recoveryMs: 30_000 },
    commitsGoBack: true,
  },
]

export const ofLinks: readonly Scenario[] = [
  {
    ...behindProxies,
    name: 'link-delayed',
    shows: 'every byte between service and broker 300 ms late for 15 s',
    faults: [spoilLink({ kind: 'delayed', ms: 300 }, 15)],
  },
  {
    ...behindProxies,
    name: 'link-slow',
    shows: 'each connection to the broker down to 20 kB/s for 15 s',
    faults: [spoilLink({ kind: 'slow', bytesPerSecond: 20_000 }, 15)],
  },
  {
    ...behindProxies,
    name: 'link-cut',
    shows: 'service and broker apart for 10 s: connections refused',
    faults: [spoilLink({ kind: 'cut' }, 10)],
  },
  {
    ...behindProxies,
    name: 'link-reset',
    shows: 'every connection to the broker reset for 5 s, twice',
    faults: times(2, spoilLink({ kind: 'reset' }, 5)),
  },
  {
    ...behindProxies,
    name: 'link-half-open',
    shows: 'connections to the broker stay open, but nothing gets through for 15 s',
    faults: [spoilLink({ kind: 'half-open' }, 15)],
  },
]
