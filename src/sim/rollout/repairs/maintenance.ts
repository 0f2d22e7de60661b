/** Simulates what a provider announces: reboots that happen, that are cancelled or avoided, and hints that never come true. */
import { MACHINES, MAINTENANCE_EVENTS } from '../../../api/generated/resources.ts';
import type { MaintenanceEvent, NodeRemedier } from '../../../api/generated/types.ts';
import { isFinalState, type MaintenanceState } from '../../../api/machine/maintenance-events.ts';
import { ANNOTATION_COMMIT, GROUP, MAINTENANCE_REMEDIER } from '../../../api/names.ts';
import { maintenance } from '../../../constructs/facts.ts';
import type { SimulatedApi } from '../../api-server/simulated-api.ts';
import type { Random } from '../../random.ts';

interface ProviderContext {
  readonly api: SimulatedApi;
  readonly random: Random;
}

/** The states that follow each state. An event that is over stays so. */
const NEXT: Partial<Readonly<Record<MaintenanceState, readonly MaintenanceState[]>>> = {
  Scheduled: ['Executing', 'Executing', 'Cancelled', 'Avoided'],
  Executing: ['Done', 'Done', 'Failed'],
};

/** Simulates the provider. Called in each step of 5 seconds. */
export function announceMaintenance(context: ProviderContext): void {
  const { api, random } = context;
  if (random.chance(0.004)) announce(context);
  const event = random.pick(api.list(MAINTENANCE_EVENTS));
  if (event && random.chance(0.03)) moveOn(event, context);
}

function announce({ api, random }: ProviderContext): void {
  const machine = random.pick(api.list(MACHINES));
  if (!machine) return;
  const name = `local-e-${api.list(MAINTENANCE_EVENTS).length}-${random.below(100_000)}`;
  const hint = random.chance(0.3);
  api.put({
    apiVersion: `${GROUP}/v1alpha1`,
    kind: MAINTENANCE_EVENTS.kind,
    metadata: { name },
    spec: {
      provider: 'local',
      eventID: name,
      machine: machine.metadata.name,
      type: hint ? 'Preempt' : 'Reboot',
      state: 'Scheduled',
      hint,
      ...(hint ? { ttlSeconds: 600 } : {}),
    },
  });
}

function moveOn(event: MaintenanceEvent, { api, random }: ProviderContext): void {
  const state = random.pick(NEXT[event.spec.state] ?? []);
  if (state) api.put({ ...event, spec: { ...event.spec, state } });
}

/** Ends everything that was announced. */
export function endMaintenance({ api }: Pick<ProviderContext, 'api'>): void {
  for (const event of api.list(MAINTENANCE_EVENTS)) {
    if (!isFinalState(event.spec.state)) api.put({ ...event, spec: { ...event.spec, state: 'Done' } });
  }
}

function factsOf(hint: boolean): object {
  return { maintenance: { pending: true, type: 'Reboot', state: 'Scheduled', hint, secondsUntilAct: 0 } };
}

/** Returns a rule like the shipped one, with times of this simulation. */
export function withMaintenance(
  spec: NodeRemedier['spec'],
  person: NodeRemedier['spec']['ladder'][number],
): NodeRemedier {
  const step = { with: {}, retries: 0, onFailure: 'Fail', onTimeout: 'Fail', timeoutSeconds: 300 } as const;
  const empty = {
    name: 'empty',
    maxAttempts: 3,
    retrySeconds: 60,
    plan: [
      { ...step, step: 'Cordon' },
      { ...step, step: 'Drain', with: { deadNode: 'Wait' } },
    ],
    verify: { conditions: maintenance().isNotDue(), holdSeconds: 30, timeoutSeconds: 14_400, target: 'Node' },
    onVerified: [{ ...step, step: 'Uncordon' }],
  };
  return {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'NodeRemedier',
    metadata: { name: MAINTENANCE_REMEDIER, annotations: { [ANNOTATION_COMMIT]: '4f2c9e1a77b0' } },
    spec: {
      ...spec,
      faultClass: 'Maintenance',
      priority: 900,
      target: { ...spec.target, maxMatchPercent: 100 },
      rule: { ...spec.rule, conditions: maintenance().isDue() },
      ladder: [empty, person],
      job: { ...spec.job, deadlineSeconds: 21_600 },
      tests: [
        { name: 'due', expect: 'Match', given: factsOf(false) },
        { name: 'a hint', expect: 'NoMatch', given: factsOf(true) },
        { name: 'not known', expect: 'Indeterminate', given: {} },
      ],
    } as unknown as NodeRemedier['spec'],
  };
}
