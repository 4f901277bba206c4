import fc from 'fast-check'

/*
 * All runs generate the same cases, so only changed code can make a passing test fail. SEED selects
 * other cases.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['SEED'] ?? 1) })
