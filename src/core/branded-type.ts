/** A primitive type to which no plain value and no value of another brand can be assigned. */
export type Brand<T, Name extends string> = T & { readonly __brand: Name }
