const OMITTED = {};

/** An object with that one field, or without any if the value is undefined: for spreading optional fields. */
export function optional<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? OMITTED : ({ [key]: value } as { readonly [P in K]?: V });
}
