/**
 * Number of offsets, from the committed one on, that the commit metadata can describe. Their bitmap
 * and its prefix have 4,003 characters, and the broker accepts 4,096.
 */
export const spanLimit = 24_000
