/**
 * As `Promise.all`, but rejects only after all promises have settled. After a rejection, the caller
 * disconnects, and a request in progress would open a new connection.
 */
export async function rejectAfterAllSettled<T>(asked: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(asked)
  return Promise.all(asked)
}
