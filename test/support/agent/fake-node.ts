/** A Node whose conditions several programs write, with the ownership of server-side apply. */
import type {
  NodeConditionsApi,
  WrittenCondition,
} from '../../../src/agent/detector/report/node-conditions-api.ts';
import { MANAGER_AGENT } from '../../../src/api/names.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';

interface OwnedCondition extends WrittenCondition {
  readonly manager: string;
}

export interface FakeNode {
  readonly api: NodeConditionsApi;
  /** Each write of the agent that was accepted: `type status reason`. */
  readonly writes: readonly (readonly string[])[];
  condition(type: string): OwnedCondition | undefined;
  /** As node-problem-detector patches: it owns what it wrote, also what another program owned. */
  writeAs(manager: string, type: string, at: Date): void;
  /** Called before each write of the agent. */
  beforeWrite: () => void;
  exists: boolean;
  /** Calls fail with it. */
  failure: KubeError | undefined;
}

export function fakeNode(): FakeNode {
  const conditions = new Map<string, OwnedCondition>();
  const writes: string[][] = [];
  const fake: FakeNode = {
    writes,
    exists: true,
    failure: undefined,
    beforeWrite: () => undefined,
    condition: (type) => conditions.get(type),
    writeAs(manager, type, at) {
      const time = at.toISOString();
      const times = { lastHeartbeatTime: time, lastTransitionTime: time };
      conditions.set(type, { type, status: 'False', reason: 'Other', message: '', ...times, manager });
    },
    api: {
      async node() {
        if (fake.failure) throw fake.failure;
        if (!fake.exists) return undefined;
        const all = [...conditions.values()];
        const managedFields = all.map(({ type, manager }) => managedField(type, manager));
        return {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: 'm', managedFields },
          status: { conditions: all },
        };
      },
      async write(written, { force }) {
        fake.beforeWrite();
        if (fake.failure) throw fake.failure;
        const foreign = written.some(
          ({ type }) => (conditions.get(type)?.manager ?? MANAGER_AGENT) !== MANAGER_AGENT,
        );
        if (foreign && !force) throw new KubeError('Conflict', 'conflict with another manager');
        for (const [type, { manager }] of conditions) if (manager === MANAGER_AGENT) conditions.delete(type);
        for (const each of written) conditions.set(each.type, { ...each, manager: MANAGER_AGENT });
        writes.push(written.map(({ type, status, reason }) => `${type} ${status} ${reason}`));
      },
    },
  };
  return fake;
}

function managedField(
  type: string,
  manager: string,
): { manager: string; operation: 'Update'; fieldsV1: object } {
  const key = `k:${JSON.stringify({ type })}`;
  return {
    manager,
    operation: 'Update',
    fieldsV1: { 'f:status': { 'f:conditions': { [key]: { 'f:status': {} } } } },
  };
}
