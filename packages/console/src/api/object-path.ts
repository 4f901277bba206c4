import type { ConfigObject } from './response-types.ts'

/** The path of a destination or a source in the operator API. */
export const objectPath = ({ kind, id }: Pick<ConfigObject, 'kind' | 'id'>): string =>
  `/v1/${kind}s/${encodeURIComponent(id)}`

export const destinationPath = (id: string): string => objectPath({ kind: 'destination', id })

export const sourcePath = (id: string): string => objectPath({ kind: 'source', id })
