/** Requests of health checks, and cases of their planner. */
import type {
  KubenodeRemediation,
  RemediationStatus,
} from '../../../../../src/api/clusterapi/remediation.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../../../src/api/generated/types.ts';
import type { RemediationInput } from '../../../../../src/controllers/following/clusterapi/remediation/judge.ts';
import {
  planRemediation,
  type RemediationPlan,
} from '../../../../../src/controllers/following/clusterapi/remediation/plan.ts';
import type { Condition } from '../../../../../src/kube/objects/conditions.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { ago, NOW } from '../../../../support/builders.ts';
import { remedier } from '../../../../support/remediers.ts';
import { type OwnParts, ours, theirNode } from '../objects.ts';

export const RULE = 'capi-repair';

export interface RequestParts {
  /** Seconds before NOW. */
  readonly created?: number;
  readonly owner?: false;
  readonly isDeleting?: true;
  readonly status?: RemediationStatus;
}

/** As a health check creates it for `md-N` of namespace fleet. */
export function request(n: number, parts: RequestParts = {}): KubenodeRemediation {
  const { created = 120, owner, isDeleting, status } = parts;
  const reference = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    name: `md-${n}`,
    uid: `uid-md-${n}`,
  };
  return {
    apiVersion: 'remediation.kubenode.dev/v1alpha1',
    kind: 'KubenodeRemediation',
    metadata: {
      namespace: 'fleet',
      name: `md-${n}`,
      uid: `uid-request-${n}`,
      creationTimestamp: ago(created),
      ...(owner === false ? {} : { ownerReferences: [reference] }),
      ...(isDeleting ? { deletionTimestamp: ago(1) } : {}),
    },
    spec: { rule: RULE, timeoutSeconds: 3600 },
    ...(status ? { status } : {}),
  };
}

export function finding(type: string, status: 'True' | 'False', reason: string, message: string): Condition {
  return { type, status, reason, message, lastTransitionTime: ago(60) };
}

export interface OurParts extends OwnParts {
  readonly conditions?: readonly Condition[];
  readonly wait?: readonly [reason: string, message: string];
  readonly personHold?: NonNullable<Machine['spec']['hold']>;
}

/** Our Machine of `md-N`, with what rules and jobs report on it. */
export function repairable(n: number, parts: OurParts = {}): Machine {
  const { conditions = [], wait, personHold, ...own } = parts;
  const found = ours(n, own);
  const waits = wait && [{ rule: RULE, reason: wait[0], message: wait[1], since: ago(30) }];
  return {
    ...found,
    spec: { ...found.spec, ...(personHold ? { hold: personHold } : {}) },
    status: {
      ...found.status,
      conditions: [...conditions],
      ...(waits ? { remedyWaits: waits } : {}),
    },
  };
}

/** By default a request for md-1, whose Machine is repairable, with its rule and without a job. */
export interface RemediationCase {
  readonly requests?: readonly KubenodeRemediation[];
  readonly machines?: readonly Machine[];
  readonly jobs?: readonly RemedyOperationJob[];
  readonly rules?: readonly NodeRemedier[];
  readonly nodes?: readonly KubeObject[];
  readonly now?: Date;
  /** Seconds before now. */
  readonly started?: number;
  readonly stopped?: string;
}

export function planOf(input: RemediationCase): RemediationPlan {
  const { jobs = [], nodes = [theirNode(1)], now = NOW, started = 9000 } = input;
  const rules = input.rules ?? [remedier({}, { name: RULE })];
  const complete: RemediationInput = {
    remediations: input.requests ?? [request(1)],
    machines: input.machines ?? [repairable(1)],
    nodeOf: (name) => nodes.find(({ metadata }) => metadata.name === name),
    jobsOf: (machine) => jobs.filter(({ spec }) => spec.machine.name === machine),
    ruleOf: (name) => rules.find(({ metadata }) => metadata.name === name),
    stopped: input.stopped,
    startedAt: new Date(+now - started * 1000),
    now,
  };
  return planRemediation(complete);
}

export function decisionsOf(input: RemediationCase): readonly string[] {
  return planOf(input).decisions.map(
    ({ remediation, step, reason, because }) => `${remediation.metadata.name} ${step} ${reason}: ${because}`,
  );
}

export function reportsOf(input: RemediationCase): readonly string[] {
  return planOf(input).reports.map(
    ({ machine, status, reason, message }) => `${machine.metadata.name} ${status} ${reason}: ${message}`,
  );
}
