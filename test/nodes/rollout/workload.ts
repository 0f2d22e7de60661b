/** Pods that run on nodes, and the budget that keeps one of them running. */
import type { Client } from '../../../src/kube/client/client.ts';
import { PODS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import { createBudget, ensureAccount, WEB } from '../../cluster/controllers/budgeted-pod.ts';
import { eventually } from '../../support/eventually.ts';
import { IMAGE } from '../../support/node-kit/image.ts';

const READY_MS = 120_000;

/** One web pod on each node: one of them may be away. */
export async function startWorkload(client: Client, nodes: readonly string[]): Promise<void> {
  await ensureAccount(client);
  await createBudget(client);
  await Promise.all(nodes.map((node) => runWebPod(client, node)));
}

/** Resolves when it runs. */
export async function runWebPod(client: Client, node: string): Promise<void> {
  const name = webPodOf(node);
  await client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...WEB, name },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: IMAGE, imagePullPolicy: 'Never' }],
    },
  });
  const ready = async (): Promise<true | undefined> => {
    const pod = await client.get(PODS, { name, namespace: WEB.namespace });
    const conditions = listAt(pod, 'status', 'conditions');
    const found = conditions.find((each) => textAt(each, 'type') === 'Ready');
    return textAt(found, 'status') === 'True' || undefined;
  };
  await eventually(ready, `pod ${name} is not Ready`, READY_MS);
}

export function webPodOf(node: string): string {
  return `web-on-${node}`;
}
