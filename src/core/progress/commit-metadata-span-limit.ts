/**
 * The number of offsets, from the committed offset on, that the commit metadata can describe. It
 * does not describe done or partly done records at higher offsets. With this number, the bitmap of
 * done records and its prefix take 4,003 characters; the broker accepts 4,096.
 */
export const spanLimit = 24_000
