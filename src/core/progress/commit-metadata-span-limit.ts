/**
 * Maximum number of offsets between the committed offset and a record that the commit metadata
 * describes as done or partly done. With this number, the bitmap of done records and its prefix
 * take 4,003 characters; the broker accepts 4,096.
 */
export const spanLimit = 24_000
