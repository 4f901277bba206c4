const given = Number(process.env['MINUTES'])

/**
 * Duration of `endpoint-outage` in minutes: MINUTES in the environment, or 1.
 * `environment-variables.ts` rejects an invalid value before anything runs.
 */
export const minutes = given > 0 ? given : 1
