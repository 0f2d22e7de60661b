/**
 * Computes `phase`, a summary for people, from the conditions. A table lists the phases in order; the first one
 * whose test passes is the phase. The last one has no test, so that every object has a phase.
 */
export interface Observed {
  readonly conditions?: readonly ObservedCondition[] | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly generation?: number | undefined;
  /** A Machine whose Node was in service before, and did not register again since, is in service. */
  readonly isInService?: boolean | undefined;
}

export interface ObservedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly observedGeneration?: number;
}

export type Test = (observed: Observed) => boolean;

export type PhaseColumn<P extends string = string> = readonly [phase: P, holds: Test];

export interface PhaseTable<P extends string = string> {
  readonly columns: readonly PhaseColumn<P>[];
  readonly otherwise: P;
  /** All phases, in the order of the table. */
  readonly phases: readonly [P, ...P[]];
  readonly phaseOf: (observed: Observed) => P;
}

export function phaseTable<const P extends string>(
  columns: readonly [PhaseColumn<P>, ...PhaseColumn<P>[]],
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

/** False, Unknown or missing: not known to be good. */
export function notTrue(type: string): Test {
  return (observed) => find(observed, type)?.status !== 'True';
}

export function notFalse(type: string): Test {
  return (observed) => find(observed, type)?.status !== 'False';
}

/** Present and not True: for conditions that do not apply to every object. */
export function setButNotTrue(type: string): Test {
  return (observed) => {
    const condition = find(observed, type);
    return condition !== undefined && condition.status !== 'True';
  };
}

/** Is true of a condition that describes an earlier spec. */
export function outdated(type: string): Test {
  return (observed) => {
    const { observedGeneration } = find(observed, type) ?? {};
    return observedGeneration !== undefined && observedGeneration < (observed.generation ?? 0);
  };
}

export const inService: Test = ({ isInService }) => isInService === true;

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
