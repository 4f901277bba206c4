/**
 * The number of offsets, from the committed offset on, that the commit metadata can describe. The
 * bitmap and its prefix then take 4,003 characters; the broker accepts 4,096.
 */
export const spanLimit = 24_000
