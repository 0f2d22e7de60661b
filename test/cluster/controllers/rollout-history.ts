/** Every version that watches delivered of Machines, component sets and the ledger, and what of a rollout can be judged by it. */
import { DEFENDER_LEDGERS, MACHINE_COMPONENT_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type {
  DefenderLedger,
  LedgerGrant,
  Machine,
  MachineComponentEntry,
  MachineComponentSet,
} from '../../../src/api/generated/types.ts';
import { entryDigest } from '../../../src/api/machine/entry-content.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { eventually } from '../../support/eventually.ts';

const HOURS_SECONDS = 7200;

/** One machine is given a revision, other than the one that it had. */
export interface MachineStart {
  readonly machine: string;
  readonly revision: string;
  readonly batch: number | undefined;
  readonly version: number;
  readonly entry: MachineComponentEntry;
}

export interface ObservedBatch {
  readonly index: number;
  readonly size: number;
  /** Version of the set that opened it. */
  readonly version: number;
  readonly startedAt: string;
  readonly soakUntil?: string;
}

/** All versions are in the order of etcd, so those of different kinds can be compared. */
export interface RolloutHistory {
  /** What a set gave its machines, in order. */
  starts(set: string): Promise<readonly MachineStart[]>;
  /** What the watch delivered of that so far. */
  startsSoFar(set: string): readonly MachineStart[];
  /** Each time a batch was opened. The first version of it is what counts, and its last soak. */
  batches(set: string, revision: string): Promise<readonly ObservedBatch[]>;
  /** Most machines at a time whose agent did not report the entry of the set as committed. */
  mostOutOfService(set: string, since: number): Promise<number>;
  /** Version in which the agent of the machine first reported the entry of the start as committed. */
  committedAt(start: MachineStart): Promise<number>;
  /** The phases of a machine from that version on, each change once. */
  phases(machine: string, since: number): Promise<readonly string[]>;
  /** All grants for the revision, by machine: `<id>` in order of their issue. */
  grants(set: string, revision: string): Promise<ReadonlyMap<string, readonly RecordedGrant[]>>;
  stop(): Promise<void>;
}

export interface RecordedGrant {
  readonly grant: LedgerGrant;
  /** Version of the ledger that first had it. */
  readonly version: number;
}

export async function recordRollouts(client: Client): Promise<RolloutHistory> {
  const [machines, sets, ledgers] = await Promise.all([
    recordChanges<Machine>(client, MACHINES),
    recordChanges<MachineComponentSet>(client, MACHINE_COMPONENT_SETS),
    recordChanges<DefenderLedger>(client, DEFENDER_LEDGERS),
  ]);
  return {
    starts: async (set) => startsOf(await machines.all(), set),
    startsSoFar: (set) => startsOf(machines.soFar(), set),
    batches: async (set, revision) => batchesOf(await sets.all(), set, revision),
    mostOutOfService: async (set, since) => mostOutOfService(await machines.all(), set, since),
    committedAt: async ({ machine, version, entry }) => {
      const found = (await machines.all()).find(
        (each) =>
          each.metadata.name === machine && versionOf(each) >= version && isCommitted(each, entry.name),
      );
      if (!found) throw new Error(`${machine} never reported ${entry.componentRef} as committed`);
      return versionOf(found);
    },
    phases: async (machine, since) => phasesOf(await machines.all(), machine, since),
    grants: async (set, revision) => grantsOf(await ledgers.all(), set, revision),
    stop: async () => {
      await Promise.all([machines.stop(), sets.stop(), ledgers.stop()]);
    },
  };
}

interface Recording<T> {
  /** Up to what the server has now. */
  all(): Promise<readonly T[]>;
  soFar(): readonly T[];
  stop(): Promise<void>;
}

async function recordChanges<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
): Promise<Recording<T>> {
  const end = new AbortController();
  const { resourceVersion } = await client.list<T>(resource);
  const changes: T[] = [];
  let failure: Error | undefined;
  const running = record().catch((error: Error) => {
    if (!end.signal.aborted) failure = error;
  });
  return {
    async all() {
      const { items } = await client.list<T>(resource);
      const newest = Math.max(0, ...items.map(versionOf));
      const isCaughtUp = async (): Promise<true | undefined> => {
        return newest <= Math.max(Number(resourceVersion), ...soFar().map(versionOf)) || undefined;
      };
      await eventually(isCaughtUp, `the watch of ${resource.plural} did not reach version ${newest}`);
      return soFar();
    },
    soFar,
    async stop() {
      end.abort();
      await running;
    },
  };

  function soFar(): readonly T[] {
    if (failure) throw failure;
    return [...changes];
  }

  async function record(): Promise<void> {
    const options = { resourceVersion, timeoutSeconds: HOURS_SECONDS, signal: end.signal };
    for await (const { type, object } of client.watch(resource, options)) {
      if (type === 'ADDED' || type === 'MODIFIED') changes.push(object as T);
    }
    if (!end.signal.aborted) throw new Error(`the watch of ${resource.plural} ended`);
  }
}

function versionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion);
}

function entryOfSet({ spec }: Machine, set: string): MachineComponentEntry | undefined {
  return spec.components.find(({ assignment }) => assignment?.set === set);
}

function startsOf(machines: readonly Machine[], set: string): readonly MachineStart[] {
  const last = new Map<string, string>();
  return machines.flatMap((each): MachineStart[] => {
    const { name } = each.metadata;
    const entry = entryOfSet(each, set);
    const revision = entry?.assignment?.revision;
    if (!entry || revision === undefined || last.get(name) === revision) return [];
    last.set(name, revision);
    return [{ machine: name, revision, batch: entry.assignment?.batch, version: versionOf(each), entry }];
  });
}

function batchesOf(
  sets: readonly MachineComponentSet[],
  name: string,
  revision: string,
): readonly ObservedBatch[] {
  const batches: ObservedBatch[] = [];
  for (const each of sets) {
    const batch = each.metadata.name === name ? openBatch(each, revision) : undefined;
    if (!batch) continue;
    const before = batches.at(-1);
    const isSame = before?.index === batch.index && before.startedAt === batch.startedAt;
    if (isSame) batches[batches.length - 1] = { ...before, ...batch, version: before.version };
    else batches.push(batch);
  }
  return batches;
}

function openBatch(set: MachineComponentSet, revision: string): ObservedBatch | undefined {
  const { batch, updateRevision } = set.status ?? {};
  if (!batch || updateRevision !== revision) return undefined;
  const { index = -1, size = -1, startedAt = '', soakUntil } = batch;
  return { index, size, startedAt, version: versionOf(set), ...optional('soakUntil', soakUntil) };
}

function isCommitted({ spec, status }: Machine, component: string): boolean {
  const entry = spec.components.find(({ name }) => name === component);
  const report = status?.components?.find(({ name }) => name === component);
  return report?.state === 'Committed' && report.digest === entry?.digest;
}

function mostOutOfService(machines: readonly Machine[], set: string, since: number): number {
  const out = new Set<string>();
  let most = 0;
  for (const each of machines) {
    const entry = entryOfSet(each, set);
    if (!entry || versionOf(each) < since) continue;
    if (isCommitted(each, entry.name)) out.delete(each.metadata.name);
    else out.add(each.metadata.name);
    most = Math.max(most, out.size);
  }
  return most;
}

function phasesOf(machines: readonly Machine[], name: string, since: number): readonly string[] {
  const own = machines.filter((each) => each.metadata.name === name && versionOf(each) >= since);
  const phases = own.map(({ status }) => status?.phase ?? 'none');
  return phases.filter((phase, index) => phase !== phases[index - 1]);
}

function grantsOf(
  ledgers: readonly DefenderLedger[],
  set: string,
  revision: string,
): ReadonlyMap<string, readonly RecordedGrant[]> {
  const found = new Map<string, RecordedGrant[]>();
  for (const ledger of ledgers) {
    for (const [machine, grant] of Object.entries(ledger.spec.grants)) {
      const { kind, name, revision: its } = grant.holder;
      if (kind !== 'MachineComponentSet' || name !== set || its !== revision) continue;
      const known = found.get(machine) ?? [];
      found.set(machine, known);
      const isKnown = known.some((each) => each.grant.id === grant.id);
      if (!isKnown) known.push({ grant, version: versionOf(ledger) });
    }
  }
  return found;
}

/** Whether the grant in the entry is for exactly this entry. */
export function isGrantedFor({ entry }: MachineStart): boolean {
  return entry.grant?.entryDigest === entryDigest(entry);
}
