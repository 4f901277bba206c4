const given = Number(process.env['MINUTES'])

/**
 * Duration of `endpoint-outage` in minutes. `environment-variables.ts` rejects an invalid MINUTES.
 */
export const minutes = given > 0 ? given : 1
