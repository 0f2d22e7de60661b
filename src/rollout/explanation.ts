/** Why something waits, or why it may not start: the form of `Wait` in the status of our kinds, before it is dated. */
import type { Blocker } from '../api/generated/types.ts';

export interface Explanation {
  /** CamelCase code for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly because: string;
  readonly blocker?: Blocker;
  /** When time alone ends it. */
  readonly until?: Date;
}
