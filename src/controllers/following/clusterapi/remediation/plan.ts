/**
 * Decides about the requests of health checks of Cluster API, and what our Machines report for them. The jobs are those of the rule that the request names: this planner starts none, so that every limit of rules applies. Pure.
 */
import { type KubenodeRemediation, REMEDIATION_REQUESTED } from '../../../../api/clusterapi/remediation.ts';
import type { Machine, RemedyOperationJob } from '../../../../api/generated/types.ts';
import { conditionOf, conditionStatus } from '../../../../kube/objects/conditions.ts';
import { byCode } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { firstMoment } from '../../../../os/dates.ts';
import { followedObject } from '../../../../providers/followed.ts';
import { isOwn } from '../../own-machine.ts';
import { CLUSTER_API } from '../owner.ts';
import { judgmentOf, type RemediationDecision, type RemediationInput } from './judge.ts';
import { requestOwner } from './owner.ts';

/** The condition of our Machine that rules read. */
export interface RequestReport {
  readonly machine: Machine;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface RemediationPlan {
  readonly decisions: readonly RemediationDecision[];
  /** Those that are not reported yet. */
  readonly reports: readonly RequestReport[];
}

export function planRemediation(input: RemediationInput): RemediationPlan {
  const machines = input.machines
    .filter((machine) => isOwn(machine, CLUSTER_API))
    .toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
  const [present, deleting] = [machines.filter((each) => !isDeleting(each)), machines.filter(isDeleting)];
  // The last entry of a key counts.
  const byOwner = new Map([...deleting, ...present].map((each) => [keyOf(followedObject(each)), each]));
  const decisions = input.remediations
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => byCode(keyOf(a.metadata), keyOf(b.metadata)))
    .map((remediation) => decide(remediation, byOwner, input));
  const byMachine = new Map(decisions.map((each) => [each.machine?.metadata.name, each]));
  const reports = present
    .map((machine) => reportOf(machine, byMachine.get(machine.metadata.name)))
    .filter((report) => !isReported(report));
  return { decisions, reports };
}

function isDeleting({ metadata }: Machine): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function keyOf(object: { readonly namespace?: string; readonly name: string } | undefined): string {
  return object ? `${object.namespace ?? ''}/${object.name}` : '';
}

function decide(
  remediation: KubenodeRemediation,
  byOwner: ReadonlyMap<string, Machine>,
  input: RemediationInput,
): RemediationDecision {
  const owner = requestOwner(remediation);
  const machine = owner && byOwner.get(keyOf(owner));
  const job = machine && lastJob(remediation, input.jobsOf(machine.metadata.name));
  const known = {
    remediation,
    ...optional('owner', owner),
    ...optional('machine', machine),
    ...optional('job', job?.metadata.name),
  };
  return { ...known, ...judgmentOf(known, input) };
}

/** Jobs of the rule since the request. One that began before belongs to another request, or to a fault that the rule found by itself. */
function lastJob(
  remediation: KubenodeRemediation,
  jobs: readonly RemedyOperationJob[],
): RemedyOperationJob | undefined {
  const since = Date.parse(remediation.metadata.creationTimestamp ?? '');
  return jobs
    .filter(({ spec }) => spec.cause.remedier === remediation.spec.rule)
    .filter(({ spec, status }) => status?.outcome === undefined || Date.parse(spec.grant.issuedAt) >= since)
    .toSorted((a, b) => Date.parse(a.spec.grant.issuedAt) - Date.parse(b.spec.grant.issuedAt))
    .at(-1);
}

function reportOf(machine: Machine, decision: RemediationDecision | undefined): RequestReport {
  if (!decision) {
    const message = 'Cluster API asks for no repair of this machine';
    return { machine, status: 'False', reason: 'NotRequested', message };
  }
  if (decision.step === 'HandedBack') {
    const message = `the machine was handed back to Cluster API: ${decision.because}`;
    return { machine, status: 'False', reason: 'HandedBack', message };
  }
  const { metadata, spec } = decision.remediation;
  const message = `KubenodeRemediation ${keyOf(metadata)} asks rule ${spec.rule} for a repair`;
  return { machine, status: 'True', reason: 'HealthCheckFailed', message };
}

function isReported({ machine, status, reason, message }: RequestReport): boolean {
  const { conditions } = machine.status ?? {};
  if (conditionStatus(conditions, REMEDIATION_REQUESTED) !== status) return false;
  const before = conditionOf(conditions, REMEDIATION_REQUESTED);
  return before?.reason === reason && before.message === message;
}

/** Returns when the first decision changes by time alone. */
export function changesAt({ decisions }: RemediationPlan): Date | undefined {
  return firstMoment(decisions.map(({ until }) => until));
}
