/** Conditions for which tests wait, for example ten received requests. */
export class Conditions {
  readonly #waiting = new Set<() => void>()

  /** Must be called after each change that can make a condition true. */
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
