/** Sets it whatever its name is: `__proto__` by assignment would become the prototype. */
export function setOwn<T>(of: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__')
    Object.defineProperty(of, name, { value, enumerable: true, configurable: true, writable: true })
  else of[name] = value
}
