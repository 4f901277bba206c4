/** Counts the requests in progress of each client address. */
export class AddressCounter {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Adds a request in progress of the address. If the address has the maximum number of them, the
   * method adds nothing and returns false, and the caller must refuse the request.
   */
  enter(address: string): boolean {
    const count = this.#counts.get(address) ?? 0
    if (count >= this.#limit) return false
    this.#counts.set(address, count + 1)
    return true
  }

  leave(address: string): void {
    const count = this.#counts.get(address) ?? 0
    if (count > 1) this.#counts.set(address, count - 1)
    else this.#counts.delete(address)
  }
}
