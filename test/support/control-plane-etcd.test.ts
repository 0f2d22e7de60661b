import { expect, it } from 'vitest';
import { additionBetween, type Operation, type Snapshot, transactionsOf } from './control-plane-etcd.ts';

const remove = (path: string): Operation => ({
  request_delete_range: { key: Buffer.from(`/server-1/${path}`).toString('base64') },
});

function stored(...paths: readonly string[]): Snapshot {
  const row = { revision: '1', value: '' };
  return new Map(paths.map((path) => [Buffer.from(`/server-1${path}`).toString('base64'), row]));
}

it('makes the last change of each resource alone, after all others', () => {
  const changes = [
    'configmaps/default/b',
    'configmaps/kubenode-system/inventory',
    'kubenode.dev/machines/kubenode-system/m-1',
    'kubenode.dev/machines/kubenode-system/m-2',
    'kubenode.dev/rollouts/kubenode-system/r',
    'configmaps/kubenode-system/inventory-web-0',
  ].map(remove);
  const at = (...indices: readonly number[]) => indices.map((index) => changes[index]);
  const [earlier = [], last = [], ...more] = transactionsOf(changes);
  expect(earlier).toEqual(at(0, 1, 2));
  expect(new Set(last)).toEqual(new Set(at(3, 4, 5)));
  expect(more).toEqual([]);
});

it('keeps each transaction below the limit of etcd, and drops no change', () => {
  const changes = Array.from({ length: 250 }, (_, index) => remove(`configmaps/default/c${index}`));
  const transactions = transactionsOf(changes);
  expect(transactions.map((one) => one.length)).toEqual([100, 100, 49, 1]);
  expect(transactions.flat()).toEqual(changes);
});

it('gives another server what was created, without the address of the one that stored it', () => {
  const before = ['/services/specs/default/kubernetes'];
  const after = stored(
    ...before,
    '/services/endpoints/default/kubernetes',
    '/endpointslices/default/kubernetes',
    '/endpointslices/default/kubernetes-2',
    '/clusterroles/kubenode-agent',
  );
  expect(additionBetween(stored(...before), after, '/server-1').map(([key]) => key)).toEqual([
    '/endpointslices/default/kubernetes-2',
    '/clusterroles/kubenode-agent',
  ]);
});
