const shared = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  testEnvironment: 'node',
  injectGlobals: false,
}
const withKafka = {
  ...shared,
  globalSetup: './test/support/jest/start-infrastructure.ts',
  globalTeardown: './test/support/jest/scan-secrets-and-stop-infrastructure.ts',
}
const fixedSeed = { ...shared, setupFiles: ['./test/support/jest/fixed-seed.ts'] }
/** `test/README.md` says which folder belongs to which project. */
const project = (displayName, base = shared, testMatch = [`<rootDir>/test/${displayName}/**/*.test.ts`]) => ({
  ...base,
  displayName,
  testMatch,
})

export default {
  projects: [
    project('unit'),
    project('property', fixedSeed),
    project('tools', fixedSeed, ['<rootDir>/test/tools/*/test/*.test.ts']),
    project('console'),
    project('contract', withKafka),
    project('integration', withKafka, [
      '<rootDir>/test/integration/**/*.test.ts',
      '<rootDir>/test/tools/*/test/integration/*.test.ts',
    ]),
    project('e2e', withKafka),
  ],
  // For machines with two cores. Tests of Kafka and of processes mostly wait, so two workers would
  // not keep two cores busy.
  maxWorkers: 3,
  testSequencer: './test/support/jest/alerts-first-sequencer.mjs',
  // Tests with real brokers and processes are slow on a busy machine.
  testTimeout: 180_000,
  reporters: ['default', './test/support/jest/closing-line-reporter.mjs'],
}
