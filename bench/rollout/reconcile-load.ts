/** A full reconcile of a component set over a fleet in memory: what is read, planned and reported, without the requests. */
import type { Machine, MachineComponent, MachineComponentSet } from '../../src/api/generated/types.ts';
import { createFindVersion } from '../../src/controllers/componentset/observe/component-versions.ts';
import { observeRollout } from '../../src/controllers/componentset/observe/observe.ts';
import { planRollout } from '../../src/controllers/componentset/plan.ts';
import { type Revision, resolveRevision } from '../../src/controllers/componentset/revision/resolve.ts';
import { componentSetStatus } from '../../src/controllers/componentset/status/status.ts';
import type { ReconcileContext } from '../../src/kube/controller/reconcile-context.ts';
import type { KubeObject, Resource } from '../../src/kube/objects/object.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { componentSet } from '../../test/controllers/componentset/component-set.ts';
import { ownEntries } from '../../test/controllers/componentset/managed-fields.ts';
import { machine, node } from '../../test/support/builders.ts';

export interface ReconcileLoad {
  /** Of one reconcile, after some. */
  readonly cpuMs: number;
  readonly residentMiB: number;
  readonly statusBytes: number;
}

const COMPONENTS = 5;
const WARM_UP = 10;
const RUNS = 20;
const SET = 'general';
const clock = createSystemClock();

/** Half of the machines have the new version. */
export function measureReconcile(machines: number): ReconcileLoad {
  const components = new Map(['1', '2'].flatMap((version) => versionsOf(version)));
  const [before, after] = ['1', '2'].map((version) => revisionOf(version, components));
  if (!before || !after) throw new Error('the versions were not resolved');
  const set = setAt(before, after, machines);
  const fleet = Array.from({ length: machines }, (_, index) =>
    machineAt(index, index < machines / 2 ? after : before),
  );
  const context = contextOver({
    MachineComponentSet: [set],
    Machine: fleet,
    Node: fleet.map(({ metadata }) => node(metadata.name)),
    MachineComponent: [...components.values()],
  });
  let statusBytes = 0;
  const reconcile = (): void => {
    const { input, conflicts } = observeRollout(set, context);
    const plan = planRollout(input);
    const report = { input, plan, conflicts, denials: [], runs: [] };
    statusBytes = JSON.stringify(componentSetStatus(report)).length;
  };
  for (let run = 0; run < WARM_UP; run += 1) reconcile();
  const began = process.cpuUsage();
  for (let run = 0; run < RUNS; run += 1) reconcile();
  const { user, system } = process.cpuUsage(began);
  return {
    cpuMs: (user + system) / 1000 / RUNS,
    residentMiB: process.memoryUsage.rss() / 2 ** 20,
    statusBytes,
  };
}

function versionsOf(version: string): readonly (readonly [string, MachineComponent])[] {
  return Array.from({ length: COMPONENTS }, (_, index) => {
    const component = `part-${index}`;
    const lists = { parameters: [], ports: [], artifacts: [], probes: [], dependsOn: [] };
    const files = [{ path: `/etc/${component}`, content: version, onChange: 'Restart', units: [] }];
    const units = [{ name: component, type: 'Process', running: true }];
    const spec = { component, version, files, units, activation: { class: 'Restart' }, ...lists };
    const name = `${component}-${version}`;
    return [name, { metadata: { name }, spec } as unknown as MachineComponent];
  });
}

function entriesOf(version: string): MachineComponentSet['spec']['components'] {
  return Array.from({ length: COMPONENTS }, (_, index) => {
    const name = `part-${index}`;
    return { name, componentRef: `${name}-${version}`, state: 'Present', parameters: {} };
  });
}

function revisionOf(version: string, components: ReadonlyMap<string, MachineComponent>): Revision {
  const get = (name: unknown): MachineComponent | undefined => components.get(String(name));
  const resolved = resolveRevision(entriesOf(version), createFindVersion({ get }));
  if (!('revision' in resolved)) throw new Error(`version ${version} was not resolved`);
  return resolved.revision;
}

function setAt(before: Revision, after: Revision, machines: number): MachineComponentSet {
  const startedAt = clock.now().toISOString();
  const batch = { index: 9, size: 100, total: machines, startedAt };
  const history = [{ revision: before.name, result: 'Completed' }] as const;
  const status = { conditions: [], updateRevision: after.name, batch, history };
  return componentSet(SET, { spec: { components: entriesOf('2') }, status });
}

function machineAt(index: number, { name: revision, components }: Revision): Machine {
  const assignment = { set: SET, revision, batch: Math.min(9, Math.floor(index / 100)) };
  const reports = components.map(({ name, componentRef, digest }) => {
    const at = { desiredRef: componentRef, currentRef: componentRef, digest };
    return { name, ...at, state: 'Committed', running: true, ready: true } as const;
  });
  return machine(`m-${index}`, {
    metadata: { managedFields: [ownEntries(...components.map(({ name }) => name))] },
    spec: { components: components.map((content) => ({ ...content, assignment })) },
    status: { agent: { observedGeneration: 1 }, node: { uid: `n-${index}` }, components: reports },
  });
}

function contextOver(objects: Readonly<Record<string, readonly KubeObject[]>>): ReconcileContext {
  const stores = new Map(
    Object.entries(objects).map(([kind, list]) => {
      const byName = new Map(list.map((each) => [each.metadata.name, each]));
      return [kind, { get: (name: string) => byName.get(name), list: () => list }] as const;
    }),
  );
  const none = { get: () => undefined, list: () => [] };
  const view = ({ kind }: Resource): unknown => stores.get(kind) ?? none;
  return { view, ageMs: () => 1000, clock } as unknown as ReconcileContext;
}
