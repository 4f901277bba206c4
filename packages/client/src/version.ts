/** The library name and version in every batch. A test compares the version with package.json. */
export const library = { name: 'hookline', version: '0.1.0' } as const
