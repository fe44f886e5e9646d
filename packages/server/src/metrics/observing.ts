/**
 * An object that is another in everything but what is given: methods are bound to the other, whose private fields are there
 * for it alone. Made once; a `Proxy` would look each name up at every call.
 */
export function observing<Target extends object>(target: Target, given: Readonly<Record<string, unknown>>): Target {
  const observed: Record<string, unknown> = {}
  for (const name of namesOf(target)) {
    const value: unknown = Reflect.get(target, name)
    if (Object.hasOwn(given, name)) observed[name] = given[name]
    else if (typeof value === 'function') observed[name] = value.bind(target)
    // Fields and accessors can change.
    else Object.defineProperty(observed, name, { get: () => Reflect.get(target, name), enumerable: true })
  }
  return observed as Target
}

function namesOf(target: object): Set<string> {
  const names = new Set<string>()
  for (let at: object | null = target; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (name !== 'constructor') names.add(name)
  }
  return names
}
