import { expect, it } from 'vitest';
import { type Operation, transactionsOf } from './control-plane-etcd.ts';

const remove = (path: string): Operation => ({
  request_delete_range: { key: Buffer.from(`/server-1/${path}`).toString('base64') },
});

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
