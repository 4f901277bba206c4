/*
 * The Node flags of a service outside the image: in `make dev`, tests, `make bench` and `make
 * chaos`. deploy/image/Dockerfile has the same flags. docs/reference/node-flags.md explains each
 * flag.
 */

/** Flags for Node. When a flag occurs twice, the last one counts. */
export const nodeFlags = ['--max-semi-space-size=16', '--heap-growing-percent=100', '--no-allocation-site-pretenuring']

/**
 * Flags for `delivery.transport: undici`. undici uses little memory, so the garbage may grow to
 * twice the size of the live objects before V8 collects it.
 */
export const nodeFlagsForUndici = [...nodeFlags, '--heap-growing-percent=200']

/** Environment variables for the glibc allocator. Other C libraries ignore them. */
export const mallocSettings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '262144',
}
