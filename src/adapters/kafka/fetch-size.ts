/** What one fetch of a group may bring, in bytes. All of it is decoded at once, and nothing else happens meanwhile. */
export interface FetchSize {
  /** Bounds what is thrown away when a partition is paused during a fetch. */
  readonly inPartition: number
  readonly inAll: number
}

const kibibyte = 1024

/** Where as much as possible is to get through: small fetches cost more for each delivery (docs/decisions/0043). */
export const usualFetch: FetchSize = { inPartition: 1024 * kibibyte, inAll: 8192 * kibibyte }

/** Some 200 copies in a retry topic, 900 in all: while an endpoint gets what it has missed, events for the others wait for no large fetch. */
export const smallFetch: FetchSize = { inPartition: 256 * kibibyte, inAll: 1024 * kibibyte }
