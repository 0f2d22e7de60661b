/** Why something waits, or why it may not start: the form of `Wait` in the status of our kinds, before it is dated. */

export interface Explanation {
  /** CamelCase code for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly because: string;
  readonly blocker?: { readonly kind: string; readonly name: string; readonly namespace?: string };
  /** When time alone ends it. */
  readonly until?: Date;
}

export function earliest(moments: readonly (Date | undefined)[]): Date | undefined {
  return moments.reduce((first, next) => (next && (!first || next < first) ? next : first), undefined);
}
