/** Conditions for which tests wait. After each change, all of them are checked. */
export class Conditions {
  readonly #waiting = new Set<() => void>()

  /** Checks all conditions again. */
  changed(): void {
    for (const check of this.#waiting) check()
  }

  /** Resolves when the condition is true. */
  until(condition: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const check = (): void => {
        if (!condition()) return
        this.#waiting.delete(check)
        resolve()
      }
      this.#waiting.add(check)
      check()
    })
  }
}
