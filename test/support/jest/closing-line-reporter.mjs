export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests > 0 ? `, ${results.numPendingTests} skipped` : ''
    process.on('exit', () => process.stderr.write(`${results.numPassedTests} passed, ${failed} failed${skipped}\n`))
  }
}
