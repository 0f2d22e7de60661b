/** What the planner sees: objects as they are in the hub, and what was observed. No wishes, no clock, no ports. */
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import type { CheckRun } from '../../rollout/gates.ts';
import type { ClusterReport } from '../cluster-report.ts';
import type { AcceptedCommit } from '../commits.ts';

export interface World {
  readonly pipeline: Pipeline;
  readonly clusters: readonly ClusterView[];
  readonly releases: readonly Release[];
  /** The accepted commits, oldest first. */
  readonly commits: readonly AcceptedCommit[];
  readonly now: Date;
}

export interface ClusterView {
  readonly cluster: Cluster;
  /** Absent while nothing is known: sync has just started. */
  readonly report?: ClusterReport;
  /** Runs of checks since the last pass that was written down; older ones do no harm. */
  readonly runs?: readonly CheckRun[];
  /** Another Pipeline that selects this cluster too. */
  readonly rival?: string;
}

export interface Because {
  /** A CamelCase word for programs. */
  readonly reason: string;
  readonly because: string;
  readonly blocker?: { readonly kind: string; readonly name: string; readonly namespace?: string };
  /** The moment at which time alone ends it. */
  readonly until?: Date;
}

export function earliest(moments: readonly (Date | undefined)[]): Date | undefined {
  return moments.reduce((first, next) => (next && (!first || next < first) ? next : first), undefined);
}

const LEFT_OUT = {};

/** An optional field that is left out when there is nothing to say. */
export function optional<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? LEFT_OUT : ({ [key]: value } as { readonly [P in K]?: V });
}

/** Bounds of our kinds. The counts beside a list of names are not bounded. */
export const MAX_NAMES = 20;
export const MAX_MESSAGE = 256;

/** In code points, as the API server counts. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const points = Array.from(text);
  return points.length <= length ? text : `${points.slice(0, length - 1).join('')}…`;
}
