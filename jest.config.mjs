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
  globalSetup: './test/support/start-infrastructure.ts',
  globalTeardown: './test/support/stop-infrastructure.ts',
}
const project = (displayName, base = shared) => ({
  ...base,
  displayName,
  testMatch: [`<rootDir>/test/${displayName}/**/*.test.ts`],
})

export default {
  projects: [
    project('unit'),
    project('property', { ...shared, setupFiles: ['./test/support/fixed-seed.ts'] }),
    project('contract', withKafka),
    project('integration', withKafka),
    project('e2e', withKafka),
  ],
  maxWorkers: 2,
  // Real brokers and processes: what hangs must fail, what is slow on a busy machine must not.
  testTimeout: 180_000,
  reporters: ['default', './test/support/closing-line-reporter.mjs'],
}
