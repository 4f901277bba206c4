import fc from 'fast-check'

/*
 * Gives every run the same generated cases, so that only changed code can make a passing test fail.
 * To repeat a failure, set SEED to the seed that fast-check prints.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['SEED'] ?? 1) })
