/** True where `value` has a method of each name: what a client is known by, since none is imported. */
export function hasMethods(value: unknown, ...names: string[]): boolean {
  const candidate = value as Record<string, unknown> | null | undefined
  return names.every((name) => typeof candidate?.[name] === 'function')
}
