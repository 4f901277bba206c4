/** Prints the one line that everything which runs the suite reads last: `N passed, N failed`. */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests > 0 ? `, ${results.numPendingTests} skipped` : ''
    process.on('exit', () => process.stderr.write(`${results.numPassedTests} passed, ${failed} failed${skipped}\n`))
  }
}
