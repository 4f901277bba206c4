/** What the library calls itself in every batch; a test holds it to package.json. */
export const library = { name: 'hookline', version: '0.1.0' } as const
