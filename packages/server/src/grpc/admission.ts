import { ServiceError } from '../errors.ts'

/** How many calls are under way, of those that may be. A queue would only make all of them late. */
export class Admission {
  readonly #most: number
  #underWay = 0

  constructor(most: number) {
    this.#most = most
  }

  /** @throws ServiceError `ERR_OVERLOADED` where so many are under way already */
  enter(): void {
    if (this.#underWay >= this.#most) {
      throw new ServiceError('ERR_OVERLOADED', `${this.#most.toLocaleString('en-US')} calls are under way already`)
    }
    this.#underWay++
  }

  leave(): void {
    this.#underWay--
  }
}
