import Sequencer from '@jest/test-sequencer'

/** The test file that takes the longest. It mostly waits for alerts. */
const longest = '/test/e2e/alerts/alerts.test.ts'

/**
 * Starts the slowest test file first. In a new clone, Jest does not know how long the files take,
 * so it starts the largest files first. The slowest file is one of the smallest. Without this
 * class, it would start after most of the others, and finally run alone.
 */
export default class AlertsFirstSequencer extends Sequencer {
  sort(tests) {
    const isLongest = ({ path }) => path.endsWith(longest)
    const sorted = super.sort(tests)
    return [...sorted.filter(isLongest), ...sorted.filter(test => !isLongest(test))]
  }
}
