/** Carries out the plan: tells rules on our Machines, hands back theirs, and reports on the requests. One that fails keeps no other. */
import {
  KUBENODE_REMEDIATIONS,
  REMEDIATION_REQUESTED,
  type RemediationStatus,
} from '../../../../api/clusterapi/remediation.ts';
import { MACHINES } from '../../../../api/generated/resources.ts';
import { MANAGER_CLUSTERAPI_REMEDIATION } from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { unlessMissing } from '../../../../kube/client/errors.ts';
import { apiVersionOf } from '../../../../kube/client/paths.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import { conditionOf, withCondition } from '../../../../kube/objects/conditions.ts';
import type { ObjectName, Resource } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { tryAll } from '../../../../kube/process/run-concurrently.ts';
import { CLUSTER_API_GROUP } from '../contract.ts';
import { planHandBack } from './hand-back.ts';
import type { RemediationDecision } from './judge.ts';
import type { RemediationPlan, RequestReport } from './plan.ts';
import { type HandBackResult, isStatusChanged, remediationStatus } from './status.ts';

export interface RemediationParts {
  readonly client: Pick<Client, 'get' | 'apply'>;
  readonly context: ReconcileContext;
}

/** Conditions of v1beta1 have other fields, and no owner acts on them: a machine is handed back in this version only. */
const THEIR_MACHINES: Resource = {
  group: CLUSTER_API_GROUP,
  version: 'v1beta2',
  kind: 'Machine',
  plural: 'machines',
  namespaced: true,
};

/** Resolves with whether each machine that is due is handed back. Rejects with the first error when all is tried. */
export async function carryOutRemediation(plan: RemediationPlan, parts: RemediationParts): Promise<boolean> {
  const work = [
    ...plan.reports.map((report) => () => reportRequest(report, parts)),
    ...plan.decisions.map((decision) => () => carryOutDecision(decision, parts)),
  ];
  const results = await tryAll(work, (run) => run());
  return results.every((isDone) => isDone);
}

async function reportRequest(
  { machine, ...report }: RequestReport,
  { context }: RemediationParts,
): Promise<true> {
  const { name } = machine.metadata;
  const update = { type: REMEDIATION_REQUESTED, ...report };
  const condition = conditionOf(
    withCondition(machine.status?.conditions, update, context.clock.now()),
    REMEDIATION_REQUESTED,
  );
  const conditions = condition ? [condition] : [];
  await context.applyStatus(MACHINES, { metadata: { name }, status: { conditions } });
  return true;
}

/** First the Machine, then the record that it was handed back: after a crash in between, the same is decided and written again. */
async function carryOutDecision(decision: RemediationDecision, parts: RemediationParts): Promise<boolean> {
  const result = decision.step === 'HandBack' ? await handBack(decision, parts) : undefined;
  const status = remediationStatus(decision, result, parts.context.clock.now());
  if (isStatusChanged(decision.remediation, status)) {
    await writeStatus(decision, status, parts);
    const { step, reason, because } = decision;
    const { namespace, name } = decision.remediation.metadata;
    const outcome = result ? result.reason : reason;
    parts.context.log.info('remediation changed', { namespace, name, step, reason: outcome, because });
  }
  return result?.isDone ?? true;
}

async function handBack(
  decision: RemediationDecision,
  { client, context }: RemediationParts,
): Promise<HandBackResult> {
  const { owner } = decision;
  const { signal } = context;
  const target: ObjectName = { name: owner?.name ?? '', ...optional('namespace', owner?.namespace) };
  const theirs = await unlessMissing(client.get(THEIR_MACHINES, target, { signal }));
  const plan = planHandBack(decision, theirs, context.clock.now());
  if (plan.type === 'Write') {
    const how = { fieldManager: MANAGER_CLUSTERAPI_REMEDIATION, force: true, subresource: 'status', signal };
    await client.apply(THEIR_MACHINES, plan.object, how);
  }
  return plan.result;
}

async function writeStatus(
  { remediation }: RemediationDecision,
  status: RemediationStatus,
  { client, context: { signal } }: RemediationParts,
): Promise<void> {
  const { name, namespace = '', uid = '' } = remediation.metadata;
  const object = {
    apiVersion: apiVersionOf(KUBENODE_REMEDIATIONS),
    kind: KUBENODE_REMEDIATIONS.kind,
    metadata: { name, namespace, uid },
    status,
  };
  const how = { fieldManager: MANAGER_CLUSTERAPI_REMEDIATION, force: true, subresource: 'status', signal };
  await client.apply(KUBENODE_REMEDIATIONS, object, how);
}
