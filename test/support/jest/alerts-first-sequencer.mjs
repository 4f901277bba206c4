import Sequencer from '@jest/test-sequencer'

/** The test file that takes the longest. It mostly waits for alerts. */
const longest = '/test/e2e/alerts/alerts.test.ts'

/**
 * Starts the longest test file first. In a new clone, Jest knows no durations, and starts the files
 * by size. The longest file is one of the smallest, so it would run after most of the others, and
 * finally alone.
 */
export default class AlertsFirstSequencer extends Sequencer {
  sort(tests) {
    const isLongest = ({ path }) => path.endsWith(longest)
    const sorted = super.sort(tests)
    return [...sorted.filter(isLongest), ...sorted.filter(test => !isLongest(test))]
  }
}
