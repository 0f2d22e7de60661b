/** The storage of a test node: its kubelet counts none on a disk that belongs to the host, and pods may ask for some. */
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { eventually } from '../eventually.ts';
import type { TestNode } from './node.ts';

/** Resolves when the Node exists and has storage for pods. */
export async function giveStorage(client: Client, node: TestNode): Promise<void> {
  const target = { name: node.name };
  const body = { status: { capacity: { 'ephemeral-storage': '10Gi' } } };
  const counted = async (): Promise<true | undefined> => {
    const found = await client.get(NODES, target).catch(() => undefined);
    if (found) await client.patch(NODES, target, { type: 'merge', body }, { subresource: 'status' });
    return textAt(found, 'status', 'allocatable', 'ephemeral-storage') === undefined ? undefined : true;
  };
  await eventually(counted, `${node.name} has no storage`);
}
