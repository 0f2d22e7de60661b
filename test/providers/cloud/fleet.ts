/** Machines whose instances are created and deleted by the calls of the machine controller, without an API server. */
import type { Machine } from '../../../src/api/generated/types.ts';
import { FINALIZER_MACHINE } from '../../../src/api/names.ts';
import { pollSeconds } from '../../../src/controllers/hostdoctor/poll/execute.ts';
import { createInstances, type Instances } from '../../../src/controllers/machine/instance/execute.ts';
import { SWEEP_SECONDS } from '../../../src/controllers/orphansweep/cadence.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { condition, machine } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { CLUSTER } from '../contract/harness.ts';

const AT_ONCE = 20;

export function hasNoInstance({ status }: Machine): boolean {
  return status?.infra?.providerID === undefined;
}

export interface Fleet {
  readonly machines: () => readonly Machine[];
  /** A reconcile of each, and a minute later. */
  readonly ensureAll: () => Promise<void>;
  readonly joinAll: () => void;
  /** The reconciles of an hour, with the polls of events and the sweeps of orphans between them. */
  readonly idleHour: () => Promise<void>;
  readonly removeAll: () => Promise<void>;
}

/** Creates this many Machines of the provider, each with a UID of its own. */
export function createFleet(
  provider: Provider,
  { count, config }: { readonly count: number; readonly config: Readonly<Record<string, unknown>> },
): Fleet {
  let ms = Date.UTC(2030, 0, 1);
  let tokens = 0;
  const names = Array.from({ length: count }, (_, index) => `general-${index}`);
  const machines = new Map(names.map((name) => [name, declared(name, { provider: provider.name, config })]));
  const { signal } = new AbortController();
  const context = {
    clock: { now: () => new Date(ms) },
    signal,
    log: memoryLog(),
    event: () => undefined,
  } as never;
  const instances: Instances = createInstances({
    providers: { [provider.name]: provider },
    clusterUid: CLUSTER,
    // Each is another one, so that a repeated request may differ from the one before.
    createBootstrap: async () => ({ text: `token ${(tokens += 1)}`, expiresAt: new Date(ms + 900_000) }),
  });

  async function each(work: (object: Machine) => Promise<void>): Promise<void> {
    const all = [...machines.values()];
    for (let from = 0; from < all.length; from += AT_ONCE) {
      await Promise.all(all.slice(from, from + AT_ONCE).map(work));
    }
    ms += 60_000;
  }

  async function ensure(object: Machine): Promise<void> {
    const hasJoined = object.status?.conditions.some(({ type }) => type === 'AgentReady') === true;
    const { status: infra } = await instances.ensure(
      { machine: object, node: undefined, hasJoined },
      context,
    );
    const status = { conditions: [], ...object.status, ...(infra ? { infra } : {}) };
    machines.set(object.metadata.name, { ...object, status });
  }

  async function idleHour(): Promise<void> {
    const beginMs = ms;
    const due = (seconds: number, times: number): boolean => ms - beginMs >= times * seconds * 1000;
    let [polls, sweeps] = [0, 0];
    for (let minute = 0; minute < 60; minute += 1) {
      await each(ensure);
      for (; due(pollSeconds(count), polls + 1); polls += 1) await provider.events(signal);
      for (; due(SWEEP_SECONDS, sweeps + 1); sweeps += 1) {
        await provider.find({ clusterUid: CLUSTER }, signal);
      }
    }
  }

  return {
    machines: () => [...machines.values()],
    ensureAll: () => each(ensure),
    idleHour,
    joinAll() {
      for (const [name, object] of machines) {
        machines.set(name, {
          ...object,
          status: { ...object.status, conditions: [condition('AgentReady', 'True')] },
        });
      }
    },
    removeAll: () =>
      each(async (object) => {
        if ((await instances.remove(object, context)) === undefined) machines.delete(object.metadata.name);
      }),
  };
}

function declared(name: string, infra: Machine['spec']['infra']): Machine {
  const uid = `00000000-0000-4000-8000-${name.replace('general-', '').padStart(12, '0')}`;
  const object = machine(name, {
    metadata: { uid, finalizers: [FINALIZER_MACHINE] },
    spec: { infra, host: { type: 'systemd' } },
  });
  return { ...object, status: { conditions: [] } };
}
