/**
 * Stands in for the kwok controller, a kubelet and the controller of node taints: each Node of the kwok provider becomes Ready. No upstream
 * program for it is built here, because Karpenter only reads the condition.
 */
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { type Condition, conditionStatus } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { condition } from '../builders.ts';

const PROVIDER = 'kwok://';
const NOT_READY = 'node.kubernetes.io/not-ready';
const PERIOD_MS = 250;

export interface KwokKubelets {
  stop(): Promise<void>;
}

export function startKwokKubelets(client: Client): KwokKubelets {
  const stop = new AbortController();
  const running = serve(client, stop.signal);
  return {
    async stop() {
      stop.abort();
      await running;
    },
  };
}

async function serve(client: Client, signal: AbortSignal): Promise<void> {
  const clock = createSystemClock();
  while (!signal.aborted) {
    const { items } = await client.list(NODES);
    const own = items.filter((node) => textAt(node, 'spec', 'providerID')?.startsWith(PROVIDER));
    for (const node of own) await makeReady(client, node);
    await clock.sleep(PERIOD_MS, signal).catch(() => {});
  }
}

async function makeReady(client: Client, node: KubeObject): Promise<void> {
  const { name } = node.metadata;
  const taints = listAt(node, 'spec', 'taints');
  const kept = taints.filter((taint) => textAt(taint, 'key') !== NOT_READY);
  const { resourceVersion } = node.metadata;
  try {
    const conditions = valueAt(node, 'status', 'conditions') as readonly Condition[] | undefined;
    if (conditionStatus(conditions, 'Ready') !== 'True') {
      const lastHeartbeatTime = createSystemClock().now().toISOString();
      const body = { status: { conditions: [{ ...condition('Ready', 'True'), lastHeartbeatTime }] } };
      await client.patch(NODES, { name }, { type: 'merge', body }, { subresource: 'status' });
    } else if (kept.length < taints.length) {
      const body = { metadata: { resourceVersion }, spec: { taints: kept } };
      await client.patch(NODES, { name }, { type: 'merge', body });
    }
  } catch (error) {
    if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) throw error;
  }
}
