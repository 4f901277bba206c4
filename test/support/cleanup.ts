import { afterEach } from '@jest/globals'

/**
 * Returns a function that registers an object. After each test, all registered objects are closed
 * in reverse order.
 */
export function closingAfterEach(): <T extends { close(): Promise<unknown> }>(opened: T) => T {
  const open: { close(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (let each = open.pop(); each !== undefined; each = open.pop()) await each.close()
  })
  return opened => {
    open.push(opened)
    return opened
  }
}
