/** Maximum number of write keys of a source. */
export const maxWriteKeys = 3
