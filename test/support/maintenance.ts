/** MaintenanceEvents and the jobs of their rule for tests: valid by default. */
import type { MaintenanceEvent, NodeRemedier, RemedyOperationJob } from '../../src/api/generated/types.ts';
import { MAINTENANCE_REMEDIER } from '../../src/api/names.ts';
import type { MaintenanceInput } from '../../src/controllers/hostdoctor/observe.ts';
import type { Metadata } from '../../src/kube/objects/object.ts';
import { ago, condition, machine, NOW } from './builders.ts';
import { type JobParts, remedier, remedyJob } from './remediers.ts';

type Spec = MaintenanceEvent['spec'];
type Status = NonNullable<MaintenanceEvent['status']>;

export interface EventParts extends Partial<Spec> {
  readonly name?: string;
  readonly metadata?: Partial<Metadata>;
  readonly status?: Partial<Status>;
}

/** The reboot of m-1 in an hour, reported a minute ago. */
export function maintenanceEvent({
  name = 'local-e-1',
  metadata,
  status,
  ...spec
}: EventParts = {}): MaintenanceEvent {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MaintenanceEvent',
    metadata: { name, uid: `uid-${name}`, generation: 1, creationTimestamp: ago(60), ...metadata },
    spec: {
      provider: 'local',
      eventID: name,
      machine: 'm-1',
      type: 'Reboot',
      state: 'Scheduled',
      hint: false,
      notBefore: ago(-3600),
      ...spec,
    },
    ...(status ? { status: { conditions: [], ...status } } : {}),
  };
}

export type DrainProgress = 'draining' | 'drained' | 'undone';

const DRAIN_STATES = { draining: 'Running', drained: 'Succeeded', undone: 'Undone' } as const;

/** Of the rule that prepares machines: at work, and draining, unless the parts differ. */
export function maintenanceJob(parts: JobParts = {}, drain: DrainProgress = 'draining'): RemedyOperationJob {
  const job = remedyJob({ remedier: MAINTENANCE_REMEDIER, begun: 30, ...parts });
  const { metadata, spec, status } = job;
  const { issuedAt } = spec.grant;
  const [step] = spec.plan;
  const plan = step ? [{ ...step, id: 's1', step: 'Drain@v1', executor: 'Central' as const }] : [];
  return {
    ...job,
    metadata: { ...metadata, creationTimestamp: issuedAt },
    spec: { ...spec, plan },
    status: {
      conditions: [condition('Progressing', 'True')],
      phase: 'Running',
      ...status,
      steps: [{ id: 's1', state: DRAIN_STATES[drain], startedAt: issuedAt, finishedAt: ago(10) }],
    },
  };
}

export function maintenanceRule(mode: NodeRemedier['spec']['mode'] = 'Enforce'): NodeRemedier {
  return remedier({ '/mode': mode }, { name: MAINTENANCE_REMEDIER });
}

export function maintenanceObservation(
  parts: EventParts = {},
  more: Partial<MaintenanceInput> = {},
): MaintenanceInput {
  return {
    event: maintenanceEvent(parts),
    machine: machine('m-1'),
    jobs: [],
    otherEvents: [],
    remedier: maintenanceRule(),
    drainSeconds: 900,
    now: NOW,
    ...more,
  };
}
