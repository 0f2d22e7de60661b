/**
 * `phase` is one word for people, read off the conditions. A table lists the phases in order; the first
 * whose test holds wins, and the last has no test, so that every object has a phase.
 */
export interface Observed {
  readonly conditions?: readonly ObservedCondition[] | undefined;
  readonly deletionTimestamp?: string | undefined;
}

export interface ObservedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

export type Test = (observed: Observed) => boolean;

export type Column<P extends string = string> = readonly [phase: P, holds: Test];

export interface PhaseTable<P extends string = string> {
  readonly columns: readonly Column<P>[];
  readonly otherwise: P;
  /** All that there are, in the order of the table. */
  readonly phases: readonly [P, ...P[]];
  readonly phaseOf: (observed: Observed) => P;
}

export function phaseTable<const P extends string>(
  columns: readonly [Column<P>, ...Column<P>[]],
  otherwise: P,
): PhaseTable<P> {
  const [[first], ...rest] = columns;
  return {
    columns,
    otherwise,
    phases: [first, ...rest.map(([phase]) => phase), otherwise],
    phaseOf: (observed) => columns.find(([, holds]) => holds(observed))?.[0] ?? otherwise,
  };
}

export const deleting: Test = ({ deletionTimestamp }) => Boolean(deletionTimestamp);

/** A missing condition is neither True nor False. */
export function is(type: string, status: 'True' | 'False', reason?: string): Test {
  return (observed) => {
    const condition = find(observed, type);
    return condition?.status === status && (reason === undefined || condition.reason === reason);
  };
}

/** Not True, missing or Unknown: not known to be good. */
export function notTrue(type: string): Test {
  return (observed) => find(observed, type)?.status !== 'True';
}

export function notFalse(type: string): Test {
  return (observed) => find(observed, type)?.status !== 'False';
}

/** Somebody set it, and not to True: for conditions that do not apply to every object. */
export function setButNotTrue(type: string): Test {
  return (observed) => {
    const condition = find(observed, type);
    return condition !== undefined && condition.status !== 'True';
  };
}

export function because(type: string, reason: string): Test {
  return (observed) => find(observed, type)?.reason === reason;
}

export function either(...tests: readonly Test[]): Test {
  return (observed) => tests.some((holds) => holds(observed));
}

export function both(...tests: readonly Test[]): Test {
  return (observed) => tests.every((holds) => holds(observed));
}

function find({ conditions }: Observed, type: string): ObservedCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
