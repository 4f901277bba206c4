/** The path of a destination in the operator API. */
export const destinationPath = (id: string): string => `/v1/destinations/${encodeURIComponent(id)}`
