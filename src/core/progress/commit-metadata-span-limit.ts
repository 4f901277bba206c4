/**
 * The commit metadata describes a record as done or partly done only if the offset of the record is
 * less than this number above the committed offset. With this number, the bitmap of done records
 * and its prefix take 4,003 characters; the broker accepts 4,096.
 */
export const spanLimit = 24_000
