import fc from 'fast-check'

/*
 * Gives every run the same generated cases, so that only a change of the code can make a passing
 * test fail. `SEED=n` gives other cases. To repeat a failure, set SEED to the seed that fast-check
 * prints.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['SEED'] ?? 1) })
