/**
 * F13, Karpenter #2042, ACK and GKE: a PodDisruptionBudget that never allows a disruption kept the drain busy for ever, or was
 * ignored without a word when a time was over.
 */
import { BUDGETS } from '../../../src/kube/drain/budgets.ts';
import { PODS } from '../../../src/kube/objects/core-kinds.ts';
import { ApiRefusal } from '../../../src/sim/api-server/refusal.ts';
import { faultRule, PERSON_RUNG, REBOOT_RUNG } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'FrequentTaskHung';
const LABELS = { app: 'web' };
/** More than the drain asks in this time. */
const REFUSALS = 1000;
const plan = [
  { step: 'Cordon' },
  { step: 'Drain', timeoutSeconds: 300, onTimeout: 'RequestApproval' },
  ...REBOOT_RUNG.plan.slice(2),
];

/** For an hour the budget refuses every eviction of the only pod. */
export async function replayExhaustedBudget(): Promise<RepairBed> {
  const bed = createRepairBed([faultRule(TYPE, { ladder: [{ ...REBOOT_RUNG, plan }, PERSON_RUNG] })]);
  const metadata = { name: 'web', namespace: 'default' };
  bed.apply({
    apiVersion: 'v1',
    kind: PODS.kind,
    metadata: { ...metadata, labels: LABELS },
    spec: { nodeName: 'm', containers: [{ name: 'main', image: 'x' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const spec = { minAvailable: 1, selector: { matchLabels: LABELS } };
  bed.apply({ apiVersion: 'policy/v1', kind: BUDGETS.kind, metadata, spec });
  const causes = [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods' }];
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  for (let refusal = 0; refusal < REFUSALS; refusal += 1) {
    bed.api.refuse(/ eviction$/, new ApiRefusal(429, 'TooManyRequests', message, causes));
  }
  bed.node.report(TYPE, 'False');
  await bed.start();
  await bed.live(10);
  bed.node.report(TYPE, 'True');
  await bed.live(3600, 5);
  return bed;
}
