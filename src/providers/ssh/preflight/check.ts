/** Defines what a check of the preflight gets and answers. */
import type { PreflightFacts } from './facts.ts';

export type CheckState = 'Pass' | 'Warn' | 'Fail' | 'Unknown';

export interface Verdict {
  readonly state: CheckState;
  /** The finding. */
  readonly found: string;
  /** The hint what to do, as an imperative. */
  readonly hint?: string;
}

export interface PreflightInput {
  readonly facts: PreflightFacts;
  /** By our clock, when the script was started and when it had ended. */
  readonly started: Date;
  readonly ended: Date;
  /** The API server, as the host would reach it. */
  readonly server?: ServerAddress;
  /** Why the script did not run as root. */
  readonly notRootReason?: string;
  /** Why the name of the host is not its own, among the hosts of one call and the Machines of a cluster. */
  readonly nameTakenReason?: string;
  readonly duplicate?: Verdict;
  /** Set where a host that is a Node of this cluster may be adopted. */
  readonly adoption?: NodeAdoption;
}

/** The Node of the cluster that this host is. With a reason the host is another one, or none. */
export interface NodeAdoption {
  readonly node: string;
  readonly refusedReason?: string;
}

/** Returns the Node that the host is, where it may be adopted. */
export function adoptedNode({ adoption }: PreflightInput): string | undefined {
  return adoption && adoption.refusedReason === undefined ? adoption.node : undefined;
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export type PreflightCheck = (input: PreflightInput) => Verdict;

export function passed(found: string): Verdict {
  return { state: 'Pass', found };
}

export function warn(found: string, hint: string): Verdict {
  return { state: 'Warn', found, hint };
}

export function fail(found: string, hint: string): Verdict {
  return { state: 'Fail', found, hint };
}

/** Unknown is not passed: the host did not tell. */
export function unknown(what: string, hint = 'check it on the host'): Verdict {
  return { state: 'Unknown', found: `not known: ${what}`, hint };
}
