import Sequencer from '@jest/test-sequencer'

const longest = '/test/e2e/alerts/alerts.test.ts'

/** Starts the slowest test file first. Jest would start it late, because the file is small. */
export default class AlertsFirstSequencer extends Sequencer {
  sort(tests) {
    const isLongest = ({ path }) => path.endsWith(longest)
    const sorted = super.sort(tests)
    return [...sorted.filter(isLongest), ...sorted.filter(test => !isLongest(test))]
  }
}
