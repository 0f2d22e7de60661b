/** A Node whose conditions several programs write, with the field ownership of the API server. */
import type {
  NodeCondition,
  NodeWithConditions,
} from '../../../src/agent/detector/report/condition-owners.ts';
import type { NodeConditionsApi } from '../../../src/agent/detector/report/node-conditions-api.ts';
import { MANAGER_AGENT } from '../../../src/api/names.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { ManagedFields } from '../../../src/kube/objects/object.ts';

export interface FakeNode {
  readonly api: NodeConditionsApi;
  /** Each write of the agent that was accepted: `type status reason`, or `keep type fields` for a part of a condition. */
  readonly writes: readonly (readonly string[])[];
  condition(type: string): NodeCondition | undefined;
  /** The program whose heartbeat the condition has. */
  writerOf(type: string): string | undefined;
  /** As node-problem-detector, which patches all fields: it owns those that it changed, and the others lose them. */
  patchAs(manager: string, type: string, at: Date, change?: Partial<NodeCondition>): void;
  /** Deleted and registered again, without conditions. */
  register(): void;
  /** Called before each write of the agent. */
  beforeWrite: () => void;
  exists: boolean;
  /** The watch is behind: a read shows the state of the read before, unless it is a fresh one. */
  lags: boolean;
  /** Calls fail with it. */
  failure: KubeError | undefined;
}

/** By type of the condition. */
type Fields = Map<string, Set<string>>;

export function fakeNode(): FakeNode {
  const conditions = new Map<string, NodeCondition>();
  const owners = new Map<string, Fields>();
  const writes: string[][] = [];
  const listeners = new Set<() => void>();
  let [uid, version] = [1, 1];
  let read: NodeWithConditions | undefined;

  function fieldsOf(manager: string, type: string): Set<string> {
    const types = owners.get(manager) ?? new Map<string, Set<string>>();
    owners.set(manager, types);
    const fields = types.get(type) ?? new Set<string>();
    types.set(type, fields);
    return fields;
  }

  function valueOf(type: string, field: string): unknown {
    return Object.entries(conditions.get(type) ?? {}).find(([name]) => name === field)?.[1];
  }

  function others(manager: string): readonly string[] {
    return [...owners.keys()].filter((each) => each !== manager);
  }

  function changed(): void {
    version += 1;
    for (const listener of listeners) listener();
  }

  /** What was applied before and is missing now is removed: a whole condition, unless another program created it. */
  function removeMissing(written: readonly NodeCondition[]): void {
    for (const [type, fields] of owners.get(MANAGER_AGENT) ?? []) {
      const after = written.find((each) => each.type === type);
      const isCreated = others(MANAGER_AGENT).some((each) => fieldsOf(each, type).has('.'));
      if (!after && fields.size > 0 && !isCreated) conditions.delete(type);
      const isLost = (field: string): boolean =>
        fields.has(field) &&
        !Object.hasOwn(after ?? {}, field) &&
        !others(MANAGER_AGENT).some((each) => fieldsOf(each, type).has(field));
      const rest = Object.entries(conditions.get(type) ?? {}).filter(([field]) => !isLost(field));
      if (conditions.has(type)) conditions.set(type, { ...Object.fromEntries(rest), type });
    }
  }

  function setAs(manager: string, item: NodeCondition, all: boolean): void {
    const before = conditions.get(item.type);
    const own = fieldsOf(manager, item.type);
    if (!before || all) own.add('.');
    for (const [field, value] of Object.entries(item)) {
      const isChanged = valueOf(item.type, field) !== value;
      if (isChanged) for (const each of others(manager)) fieldsOf(each, item.type).delete(field);
      if (isChanged || all) own.add(field);
    }
    conditions.set(item.type, { ...before, ...item, type: item.type });
  }

  const fake: FakeNode = {
    writes,
    exists: true,
    lags: false,
    failure: undefined,
    beforeWrite: () => undefined,
    condition: (type) => conditions.get(type),
    writerOf: (type) => [...owners.keys()].find((each) => fieldsOf(each, type).has('lastHeartbeatTime')),
    patchAs(manager, type, at, change = {}) {
      const time = at.toISOString().replace(/\.\d+Z$/, 'Z');
      const times = { lastHeartbeatTime: time, lastTransitionTime: time };
      setAs(manager, { type, status: 'False', reason: 'Other', message: '', ...times, ...change }, false);
      changed();
    },
    register() {
      conditions.clear();
      owners.clear();
      [uid, fake.exists] = [uid + 1, true];
      changed();
    },
    api: {
      async node({ fresh = false } = {}) {
        if (fake.failure) throw fake.failure;
        if (!fake.lags || fresh) {
          read = fake.exists ? nodeOf({ conditions, owners, uid, version }) : undefined;
        }
        return read;
      },
      async write(written, observed) {
        fake.beforeWrite();
        if (fake.failure) throw fake.failure;
        if (observed.metadata.resourceVersion !== String(version)) {
          throw new KubeError('Conflict', 'the Node was changed');
        }
        removeMissing(written);
        owners.delete(MANAGER_AGENT);
        for (const each of written) setAs(MANAGER_AGENT, each, true);
        writes.push(written.map(label));
        changed();
      },
      async watch(onChange, signal) {
        listeners.add(onChange);
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve());
        if (!signal.aborted) await promise;
        listeners.delete(onChange);
      },
    },
  };
  return fake;
}

function label(condition: NodeCondition): string {
  const { type, status, reason, lastHeartbeatTime } = condition;
  if (lastHeartbeatTime !== undefined) return `${type} ${status} ${reason}`;
  const kept = Object.keys(condition).filter((field) => field !== 'type');
  return ['keep', type, ...kept.toSorted()].join(' ');
}

interface State {
  readonly conditions: ReadonlyMap<string, NodeCondition>;
  readonly owners: ReadonlyMap<string, Fields>;
  readonly uid: number;
  readonly version: number;
}

function nodeOf({ conditions, owners, uid, version }: State): NodeWithConditions {
  const managedFields = [...owners].map(([manager, types]): ManagedFields => {
    const items = [...types].filter(([, fields]) => fields.size > 0).map(managedItem);
    const operation = manager === MANAGER_AGENT ? 'Apply' : 'Update';
    const fieldsV1 = { 'f:status': { 'f:conditions': Object.fromEntries(items) } };
    return { manager, operation, fieldsV1 };
  });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'm', uid: `uid-${uid}`, resourceVersion: String(version), managedFields },
    status: { conditions: [...conditions.values()] },
  };
}

function managedItem([type, fields]: readonly [string, ReadonlySet<string>]): readonly [string, object] {
  const owned = [...fields].map((field) => [field === '.' ? '.' : `f:${field}`, {}] as const);
  return [`k:${JSON.stringify({ type })}`, Object.fromEntries(owned)];
}
