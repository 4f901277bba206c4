const given = Number(process.env['MINUTES'])

/** How long an outage of minutes lasts: MINUTES in the environment, or 1. What is no number above 0 is refused before anything runs. */
export const minutes = given > 0 ? given : 1
