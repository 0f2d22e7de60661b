/** F12, AWS node termination handler #321, #458 and #141: a hint that never came true left its node cordoned for ever. */
import type { MaintenanceEvent, NodeRemedier } from '../../../src/api/generated/types.ts';
import { maintenance } from '../../../src/constructs/facts.ts';
import { PODS } from '../../../src/kube/objects/core-kinds.ts';
import { faultRule, PERSON_RUNG, shippedMaintenanceRule } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

type Spec = Partial<MaintenanceEvent['spec']>;

/** A bed with the shipped rule, and a pod that ends slowly, which keeps a drain busy. */
export async function machineWithMaintenance(more: readonly NodeRemedier[] = []): Promise<RepairBed> {
  const bed = createRepairBed([shippedMaintenanceRule(), ...more]);
  await bed.start();
  await bed.live(10);
  return bed;
}

export function runSlowPod(bed: RepairBed): void {
  bed.apply({
    apiVersion: 'v1',
    kind: PODS.kind,
    metadata: { name: 'slow', namespace: 'default', finalizers: ['test/slow'] },
    spec: { nodeName: 'm', containers: [{ name: 'main', image: 'x' }] },
  });
}

/** The same notice of its provider, however often: the reboot of machine `m` that may begin at any moment. */
export function announce(bed: RepairBed, spec: Spec = {}, name = 'local-e-1'): void {
  bed.apply({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MaintenanceEvent',
    metadata: { name },
    spec: {
      provider: 'local',
      eventID: name,
      machine: 'm',
      type: 'Reboot',
      state: 'Scheduled',
      hint: false,
      ...spec,
    },
  });
}

const TTL_SECONDS = 600;

/** A rule that cordons for a hint: the first half of the life of the hint is over. */
export async function replayHint(): Promise<RepairBed> {
  const bed = await machineWithMaintenance([hintRule()]);
  announce(bed, { hint: true, ttlSeconds: TTL_SECONDS, type: 'Preempt' });
  await bed.live(TTL_SECONDS / 2, 1);
  return bed;
}

function hintRule(): NodeRemedier {
  const verify = { conditions: maintenance().isNoHintDue(), holdSeconds: 5, timeoutSeconds: 3600 };
  return faultRule('unused', {
    name: 'hints',
    ladder: [
      { name: 'cordon', plan: [{ step: 'Cordon' }], verify, onVerified: [{ step: 'Uncordon' }] },
      PERSON_RUNG,
    ],
    changes: {
      '/rule': { conditions: maintenance().isHintDue(), clearSeconds: 60 },
      '/tests': [
        { name: 'a hint', expect: 'Match', given: factsOf(true) },
        { name: 'no hint', expect: 'NoMatch', given: factsOf(false) },
        { name: 'unknown', expect: 'Indeterminate', given: {} },
      ],
    },
  });
}

function factsOf(hint: boolean): object {
  return { maintenance: { pending: true, type: 'Preempt', state: 'Scheduled', hint, secondsUntilAct: 0 } };
}
