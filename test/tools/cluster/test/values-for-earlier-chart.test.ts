import { expect, it } from '@jest/globals'
import { earlierValues } from '../earlier-release-upgrade-scenario.ts'

it('gives the earlier chart only values that it knows, its own image and new topics', () => {
  const config = { destinations: [], topics: { replicationFactor: 1 } }
  const values = {
    image: { repository: 'r' },
    services: { collector: { replicas: 1 }, operator: { replicas: 1 } },
    config: { ...config, operator: { keys: [] } },
  }
  expect(earlierValues(values)).toEqual({
    image: { repository: 'r', tag: 'd8def41f' },
    services: { collector: { replicas: 1 } },
    config: { ...config, topics: { replicationFactor: 1, prefix: 'earlier' } },
  })
})
