/*
 * How a service is started outside of the image: by `make dev`, the tests of processes, the bench and
 * the chaos runs. deploy/image/Dockerfile says the same for the image; docs/reference/node-flags.md
 * explains each flag.
 */

/** Flags for Node. Of a flag that is given twice the last one counts. */
export const nodeFlags = ['--max-semi-space-size=16', '--heap-growing-percent=100', '--no-allocation-site-pretenuring']

/** With `delivery.transport: undici` a request holds little memory: garbage may grow to twice the live size. */
export const nodeFlagsForUndici = [...nodeFlags, '--heap-growing-percent=200']

/** Settings of glibc's allocator; other C libraries ignore them. */
export const mallocSettings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '262144',
}
