import { afterEach } from '@jest/globals'

/**
 * Returns a function that registers something to close. After each test everything is closed, in
 * reverse order.
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
