/** An answer that is there, or will be. Where nothing has to be waited for, no promise is made. */
export type MaybePromise<Value> = Value | PromiseLike<Value>

export function isPromise<Value>(value: MaybePromise<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Goes on with a value, at once if it is there. */
export function chain<From, To>(value: MaybePromise<From>, next: (value: From) => MaybePromise<To>): MaybePromise<To> {
  return isPromise(value) ? value.then(next) : next(value)
}
