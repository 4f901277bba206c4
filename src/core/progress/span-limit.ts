/**
 * Maximum distance of a record from the committed offset, in offsets, at which the commit metadata
 * describes it: as done, or as done for some destinations. At this distance the bitmap of done
 * records with its prefix takes 4,003 characters; the broker accepts 4,096.
 */
export const spanLimit = 24_000
