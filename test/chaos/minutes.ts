const value = Number(process.env['MINUTES'] || 1)
if (!(value > 0)) throw new RangeError(`MINUTES is ${process.env['MINUTES']}; it has to be a number above 0`)

/** How long lasts what lasts minutes: MINUTES in the environment, 1. */
export const minutes = value
