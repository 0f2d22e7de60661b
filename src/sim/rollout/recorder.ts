/** Writes the history that the judge reads: every start in the moment of its write, and what is true whenever it changes. */
import { DEFENDER_LEDGERS, MACHINE_COMPONENT_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineComponentSet } from '../../api/generated/types.ts';
import { readinessOf } from '../../api/machine/node-state.ts';
import { ANNOTATION_CORDONED_BY, LEDGER } from '../../api/names.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { ApiChange } from '../api-server/objects.ts';
import type { QuietCluster, RolloutEvent } from './history.ts';
import { hostState } from './hosts.ts';
import { desiredSet, isHung, machineTruth, type SimulatedCluster, startedUpdate } from './truth.ts';

export interface Recorder {
  readonly history: readonly RolloutEvent[];
  /** Records one write, in the moment in which the API server has it. */
  written(change: ApiChange): void;
  observe(): void;
  /** Records the state of the cluster long after the last fault. */
  quiet(): void;
}

export interface RecorderOptions extends SimulatedCluster {
  readonly skewMs: () => number;
}

type Untimed<T> = T extends RolloutEvent ? Omit<T, 'atMs'> : never;
type Recorded = Untimed<RolloutEvent>;

interface Recording extends RecorderOptions {
  readonly add: (event: Recorded) => void;
  /** Adds an event, unless it equals the one that was added last under that key. */
  readonly addChanged: (key: string, event: Recorded) => void;
  /** The events that were added last, by key. */
  readonly last: Map<string, Recorded>;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const history: RolloutEvent[] = [];
  const texts = new Map<string, string>();
  const last = new Map<string, Recorded>();
  const add = (event: Recorded): void => void history.push({ atMs: options.nowMs(), ...event });
  const addChanged = (key: string, event: Recorded): void => {
    const text = JSON.stringify(event);
    if (texts.get(key) === text) return;
    texts.set(key, text);
    last.set(key, event);
    add(event);
  };
  const recording: Recording = { ...options, add, addChanged, last };
  return {
    history,
    written: (change) => written(recording, change),
    observe: () => observe(recording),
    quiet: () => {
      observe(recording);
      add({ what: 'Quiet', ...quietCluster(options) });
    },
  };
}

function written(recording: Recording, { before, after }: ApiChange): void {
  const kind = (after ?? before)?.kind;
  if (kind === LEASES.kind) return;
  // The types of its kinds.
  if (kind === MACHINES.kind && after) {
    recordStarts(recording, before as Machine | undefined, after as Machine);
  }
  observe(recording);
  if (kind === MACHINE_COMPONENT_SETS.kind && after) recordEnd(recording, after as MachineComponentSet);
}

function recordStarts({ hosts, add }: Recording, before: Machine | undefined, after: Machine): void {
  const { name } = after.metadata;
  for (const entry of after.spec.components) {
    const old = before?.spec.components.find((each) => each.name === entry.name);
    const start = startedUpdate(name, old, entry, hosts.get(name));
    if (start) add({ what: 'Start', ...start });
  }
}

/** Records the end of a rollout, in the order in which rollouts end, once each. */
function recordEnd({ last, add }: Recording, { metadata: { name }, status }: MachineComponentSet): void {
  const [newest] = status?.history ?? [];
  const { result, revision = '', finishedAt } = newest ?? {};
  const key = `completed ${name} ${finishedAt}`;
  if (result !== 'Completed' || last.has(key)) return;
  const event = { what: 'Completed', set: name, revision } as const;
  last.set(key, event);
  add(event);
}

function observe(recording: Recording): void {
  const { api, addChanged, skewMs } = recording;
  addChanged('clock', { what: 'Clock', skewMs: skewMs() });
  const machines = api.list(MACHINES);
  const sets = api.list(MACHINE_COMPONENT_SETS);
  recordGrants(recording);
  for (const set of sets) {
    addChanged(`set ${set.metadata.name}`, { what: 'Set', ...desiredSet(set, machines, api) });
  }
  for (const machine of machines) recordMachine(recording, machine, sets);
  recordMissing(recording, new Set([...keysOf('set', sets), ...keysOf('machine', machines)]));
}

function keysOf(
  prefix: string,
  objects: readonly { readonly metadata: { readonly name: string } }[],
): readonly string[] {
  return objects.map(({ metadata }) => `${prefix} ${metadata.name}`);
}

function recordMissing({ last, addChanged }: Recording, present: ReadonlySet<string>): void {
  for (const [key, event] of last) {
    if (present.has(key)) continue;
    if (event.what === 'Set') addChanged(key, { ...event, exists: false });
    if (event.what === 'Machine') {
      addChanged(key, {
        ...event,
        exists: false,
        serves: false,
        nodeServes: false,
        isHealthy: false,
        isCordonedByPerson: false,
      });
    }
  }
}

function recordMachine(recording: Recording, machine: Machine, sets: readonly MachineComponentSet[]): void {
  const { hosts, addChanged } = recording;
  const { name, uid } = machine.metadata;
  addChanged(`machine ${name}`, { what: 'Machine', ...machineTruth(machine, sets, recording) });
  const host = hosts.get(name);
  if (host?.uid !== uid) return;
  for (const entry of machine.spec.components) {
    const { set, revision = '' } = entry.assignment ?? {};
    if (!host || set === undefined) continue;
    const state = hostState(host, entry);
    addChanged(`host ${name} ${set}`, { what: 'Host', machine: name, set, revision, state });
  }
}

function recordGrants({ api, addChanged }: Recording): void {
  const { grants = {} } = api.get(DEFENDER_LEDGERS, LEDGER)?.spec ?? {};
  for (const [machine, { id, state, notAfter, holder }] of Object.entries(grants)) {
    const set = holder.kind === 'MachineComponentSet' ? holder.name : undefined;
    const isOpen = state !== 'Settled';
    const untilMs = Date.parse(notAfter);
    addChanged(`grant ${machine}`, { what: 'Grant', machine, id, ...optional('set', set), isOpen, untilMs });
  }
}

/** Describes the quiet cluster. A machine that hangs keeps its cordon and its grant. */
function quietCluster({ api, hosts }: SimulatedCluster): QuietCluster {
  const isOver = (machine: string): boolean => !isHung(hosts.get(machine));
  const { grants = {} } = api.get(DEFENDER_LEDGERS, LEDGER)?.spec ?? {};
  const inLedger = Object.keys(grants).filter((machine) => grants[machine]?.state !== 'Settled');
  const inEntries = api
    .list(MACHINES)
    .filter(({ spec }) => spec.components.some(({ grant }) => grant !== undefined))
    .map(({ metadata }) => metadata.name);
  const cordons = api
    .list(NODES)
    .filter((node) => node.metadata.annotations?.[ANNOTATION_CORDONED_BY] !== undefined)
    .filter((node) => readinessOf(node) === 'Ready')
    .map(({ metadata }) => metadata.name);
  const sets = api.list(MACHINE_COMPONENT_SETS);
  return {
    waits: Object.fromEntries(sets.map(({ metadata, status }) => [metadata.name, waitOf(status)])),
    hung: [...hosts.keys()].filter((name) => !isOver(name)),
    cordons: cordons.filter(isOver),
    grants: [...new Set([...inLedger, ...inEntries])].filter(isOver),
  };
}

/** Returns the reason of a wait that remains, or that a batch is open. */
function waitOf(status: MachineComponentSet['status']): string {
  return status?.waiting?.reason ?? (status?.batch ? 'BatchOpen' : 'AllDone');
}
