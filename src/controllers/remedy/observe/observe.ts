/** Reads what the plan for a machine and the status of a rule are made from: the targets of rules, and the jobs. */
import { MACHINES, REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../api/generated/types.ts';
import { jobsOn } from '../../../api/machine/jobs.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { isJobAtWork } from '../case/jobs.ts';
import { type Findings, findingsOf } from '../findings.ts';
import type { RemedyPlanInput } from '../plan.ts';
import type { RemedyState } from '../state.ts';
import { isControlPlane, isTarget, labelsOf, type MatchBound, matchBound } from '../targets.ts';
import type { EvaluatedMachine, EvaluatedRule } from './evaluation.ts';

export function observeRemedy(
  { machine, node }: EvaluatedMachine,
  evaluated: readonly EvaluatedRule[],
  { state, context }: { readonly state: Pick<RemedyState, 'findings'>; readonly context: ReconcileContext },
): RemedyPlanInput {
  const { name } = machine.metadata;
  const jobs = context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
  return {
    machine,
    node,
    jobs: jobsOn(name, jobs),
    controlPlaneJob: isControlPlane(labelsOf(machine, node))
      ? otherControlPlaneJob(name, jobs.list(), context)
      : undefined,
    rules: evaluated
      .filter(({ finding }) => finding.outcome !== 'NoMatch')
      .map(({ remedier, digest, finding }) => ({
        remedier,
        digest,
        finding,
        // Reads the whole fleet, so only for a rule that would act.
        get bound() {
          return boundOf(remedier, state.findings, context);
        },
      })),
    now: context.clock.now(),
  };
}

function otherControlPlaneJob(
  name: string,
  jobs: readonly RemedyOperationJob[],
  context: ReconcileContext,
): string | undefined {
  const machines = context.view<Machine>(MACHINES);
  const nodes = context.view(NODES);
  return jobs.find(({ spec, ...job }) => {
    const other = machines.get(spec.machine.name);
    if (!other || spec.machine.name === name || !isJobAtWork({ spec, ...job })) return false;
    return isControlPlane(labelsOf(other, nodes.get(spec.machine.name)));
  })?.metadata.name;
}

/** Returns how much of its targets a rule matches now. */
export function boundOf(remedier: NodeRemedier, findings: Findings, context: ReconcileContext): MatchBound {
  const targets = targetsOf(remedier, context);
  const unseen = targets.filter(({ metadata }) => !findings.has(metadata.name)).length;
  const found = findingsOf(findings, remedier.metadata.name);
  return matchBound(remedier, { targets: targets.length, unseen }, found);
}

export function targetsOf(remedier: NodeRemedier, context: ReconcileContext): readonly Machine[] {
  const nodes = context.view(NODES);
  return context
    .view<Machine>(MACHINES)
    .list()
    .filter((machine) => isTarget(remedier, labelsOf(machine, nodes.get(machine.metadata.name))));
}
