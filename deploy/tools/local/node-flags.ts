/*
 * The Node flags of a service outside the image. deploy/image/Dockerfile has the same flags.
 * docs/reference/node-flags.md explains each flag.
 */

export const nodeFlags = ['--max-semi-space-size=16', '--heap-growing-percent=100', '--no-allocation-site-pretenuring']

/**
 * undici uses little memory, so V8 may let garbage grow to twice the size of the live objects. Of
 * the two values of `--heap-growing-percent`, the last one counts.
 */
export const nodeFlagsForUndici = [...nodeFlags, '--heap-growing-percent=200']

/** Environment variables for the glibc allocator. Other C libraries ignore them. */
export const mallocSettings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '262144',
}
