/** Simulates what people do to a MachineSet and its machines, and what befalls the hosts. */
import { MACHINE_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineSet } from '../../api/generated/types.ts';
import { ANNOTATION_DELETE, GROUP } from '../../api/names.ts';
import type { ObjectName } from '../../kube/objects/object.ts';
import type { Random } from '../random.ts';
import { type CloudInstance, NEVER_JOINS } from './cloud.ts';
import { type InstanceHosts, silence } from './instance-hosts.ts';

export interface SetPeople extends InstanceHosts {
  /** The most machines that people ask for. */
  readonly machines: number;
  /** Whether the set replaces machines that differ from its template, one beyond `replicas`. */
  readonly isReplacing?: boolean;
  /** Runs an act of people, which is distinguished from what controllers do. */
  readonly asPerson: (act: () => void) => void;
}

export const SET = 'general';
export const OVERSHOOT = 2;
const MINUTE_MS = 60_000;
type Spec = MachineSet['spec'];

const SURGE = 1;

export function createSet({ api, random, machines, isReplacing = false }: SetPeople): void {
  const spec: Spec = {
    replicas: 1 + random.below(machines),
    template: {
      labels: { pool: 'a' },
      infra: { provider: 'local', config: { type: 'simulated' } },
      host: { type: 'sandbox' },
      node: { labels: { pool: 'a' }, annotations: {}, taints: [] },
      deletion: { drain: 'Respect', drainTimeoutSeconds: 1800, timeoutSeconds: 7200, cleanup: 'Restore' },
    },
    zones: random.chance(0.5) ? [] : ['a', 'b', 'c'],
    minReadySeconds: 0,
    updateStrategy: isReplacing
      ? { type: 'Replace', maxUnavailable: 1, maxSurge: SURGE }
      : { type: 'InPlace', maxUnavailable: 1 },
    deletionOrder: random.pick(['Oldest', 'Newest', 'Random'] as const) ?? 'Oldest',
    stormGuard: { maxUnhealthy: '40%', maxUnhealthyInZone: '50%', thawSeconds: 300, overshoot: OVERSHOOT },
    startupTimeoutSeconds: 600,
    paused: false,
  };
  api.put({ apiVersion: `${GROUP}/v1alpha1`, kind: MACHINE_SETS.kind, metadata: { name: SET }, spec });
}

/** Simulates what happens by chance. Called in each step of 5 seconds. */
export function befallSet(people: SetPeople): void {
  const { random } = people;
  if (random.chance(0.04)) interfereWithSet(people);
  // So often that machines are replaced most of the time.
  if (people.isReplacing && random.chance(0.008)) people.asPerson(() => changeInstances(people));
  befallHosts(people);
  const instance = random.pick(people.cloud.list());
  if (instance) befallInstance(instance, people);
}

/** Makes one edit of a person, which may come in the middle of a reconcile. */
export function interfereWithSet(people: SetPeople): void {
  const act = people.random.pick(ACTS);
  if (act) people.asPerson(() => act(people));
}

/** Holds a machine between the decision to delete it and the write. */
export function holdBeforeDeletion({ api, asPerson, random }: SetPeople, deleted: ObjectName): void {
  const machine = api.get<Machine>(MACHINES, deleted);
  if (machine) asPerson(() => void api.put(held(machine, random)));
}

const ACTS: readonly ((people: SetPeople) => void)[] = [
  scale,
  scale,
  scale,
  (people) =>
    editSet(people, ({ paused, ...spec }) => ({ ...spec, paused: !paused && people.random.chance(0.3) })),
  (people) =>
    editSet(people, (spec) => ({ ...spec, template: editedTemplate(spec.template, people.random) })),
  (people) =>
    editSet(people, (spec) => ({ ...spec, template: editedTemplate(spec.template, people.random) })),
  deleteByHand,
  deleteByHand,
  holdOrRelease,
  holdOrRelease,
  markForDeletion,
  markForDeletion,
];

function scale(people: SetPeople): void {
  const { random, machines } = people;
  editSet(people, (spec) => ({ ...spec, replicas: random.below(machines + 1) }));
}

export function editSet({ api }: SetPeople, edit: (spec: Spec) => Spec): void {
  const set = api.get<MachineSet>(MACHINE_SETS, SET);
  if (set) api.put({ ...set, spec: edit(set.spec) });
}

function editedTemplate(template: Spec['template'], random: Random): Spec['template'] {
  const { node, deletion, infra } = template;
  const value = `v${random.below(100)}`;
  const edits: readonly Partial<Spec['template']>[] = [
    { labels: { pool: 'a', [value]: 'x' } },
    { node: { ...node, labels: { pool: 'a', tier: value } } },
    { node: { ...node, taints: random.chance(0.5) ? [] : [{ key: 'team', value, effect: 'NoSchedule' }] } },
    { deletion: { ...deletion, drainTimeoutSeconds: 600 + random.below(1200) } },
    // Only other machines can have it.
    { infra: { ...infra, config: { type: 'simulated', size: value } } },
  ];
  return { ...template, ...random.pick(edits) };
}

/** Edits, or reverts, what only other machines can have. */
function changeInstances(people: SetPeople): void {
  const config = { type: 'simulated', size: `v${people.random.below(3)}` };
  editSet(people, (spec) => {
    const { template } = spec;
    return { ...spec, template: { ...template, infra: { ...template.infra, config } } };
  });
}

function pickMachine({ api, random }: SetPeople): Machine | undefined {
  return random.pick(api.list(MACHINES).filter(({ metadata }) => metadata.deletionTimestamp === undefined));
}

function deleteByHand(people: SetPeople): void {
  const machine = pickMachine(people);
  if (machine) people.api.delete(MACHINES, machine.metadata);
}

function holdOrRelease(people: SetPeople): void {
  const machine = pickMachine(people);
  if (!machine) return;
  const { hold, ...spec } = machine.spec;
  people.api.put(hold ? { ...machine, spec } : held(machine, people.random));
}

function held(machine: Machine, random: Random): Machine {
  const scope = random.chance(0.5) ? 'All' : 'Disruptive';
  return { ...machine, spec: { ...machine.spec, hold: { reason: 'debugging', scope } } };
}

/** Marks a machine for deletion. Half of them are held as well, as those that a person wants to look at before. */
function markForDeletion(people: SetPeople): void {
  const machine = pickMachine(people);
  if (!machine) return;
  const annotations = { ...machine.metadata.annotations, [ANNOTATION_DELETE]: 'x' };
  const marked = { ...machine, metadata: { ...machine.metadata, annotations } };
  people.api.put(people.random.chance(0.5) ? held(marked, people.random) : marked);
}

function befallHosts({ random, hosts, nowMs }: SetPeople): void {
  const all = [...hosts.values()];
  const host = random.pick(all);
  if (host && random.chance(0.006)) silence(host, nowMs() + random.below(8) * MINUTE_MS);
  if (!random.chance(0.0015)) return;
  const share = 0.2 + random.next() * 0.8;
  const untilMs = nowMs() + (2 + random.below(10)) * MINUTE_MS;
  for (const each of all) if (random.chance(share)) silence(each, untilMs);
}

function befallInstance(instance: CloudInstance, { random, cloud, asPerson }: SetPeople): void {
  if (random.chance(0.003)) instance.state = 'Stopped';
  // The provider deletes it.
  if (random.chance(0.0005)) asPerson(() => void cloud.delete(instance.id));
}

/**
 * Ends what disturbs the set: it is not paused, nothing is held or silent, hosts that would never join do, and people ask for `replicas`.
 */
export function calmSet(people: SetPeople, replicas: number): void {
  const { api, hosts, cloud } = people;
  people.asPerson(() => {
    editSet(people, (spec) => ({ ...spec, paused: false, replicas }));
    for (const machine of api.list(MACHINES)) {
      const { hold: _, ...spec } = machine.spec;
      api.put({ ...machine, spec });
    }
  });
  for (const host of hosts.values()) Object.assign(host, { silentUntilMs: 0, notReadyUntilMs: 0 });
  for (const instance of cloud.list()) {
    if (instance.joinsMs === NEVER_JOINS) instance.joinsMs = people.nowMs();
  }
}

export function replaceLost({ api, asPerson }: SetPeople): void {
  const ended = api
    .list(MACHINES)
    .filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.infra?.state === 'Gone',
    );
  asPerson(() => {
    for (const { metadata } of ended) api.delete(MACHINES, metadata);
  });
}
