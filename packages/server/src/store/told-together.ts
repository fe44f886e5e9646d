import type { Observer } from 'tidegate'

/** An observer that tells both of what is seen of a store. */
export function toldTogether(one: Observer, other: Observer): Observer {
  return {
    fallback: (event) => {
      one.fallback?.(event)
      other.fallback?.(event)
    },
    lateReply: (event) => {
      one.lateReply?.(event)
      other.lateReply?.(event)
    },
    breakerChange: (event) => {
      one.breakerChange?.(event)
      other.breakerChange?.(event)
    },
    storeError: (event) => {
      one.storeError?.(event)
      other.storeError?.(event)
    },
    lease: (event) => {
      one.lease?.(event)
      other.lease?.(event)
    },
    warning: (event) => {
      one.warning?.(event)
      other.warning?.(event)
    },
  }
}
