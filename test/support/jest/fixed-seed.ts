import fc from 'fast-check'

/*
 * Every run has the same cases, so that a passing test fails only after a change. SEED=n gives other
 * cases; a failure that fast-check prints with a seed can be repeated with that seed.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['SEED'] ?? 1) })
