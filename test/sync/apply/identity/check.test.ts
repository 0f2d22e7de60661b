import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { withoutDeniedUnits } from '../../../../src/sync/apply/identity/check.ts';
import { unitAccounts } from '../../../../src/sync/apply/identity/unit-identities.ts';
import type { InventoryStore } from '../../../../src/sync/apply/inventory/store.ts';
import type { TargetPlan } from '../../../../src/sync/apply/plan.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { applyInput, configMap, entry, live, unit } from '../fixtures.ts';
import { planOf, type ReviewRules, type ReviewServer, reviewServer } from './fixtures.ts';

const OLD = configMap('old');
const SCENARIO = {
  git: [unit('web', [configMap('a')]), unit('db', [configMap('b')]), unit('rest', [configMap('c')])],
  inventory: [entry(OLD)],
  cluster: [live(OLD)],
  more: { budget: { maxObjects: 100, maxPercent: 100 } },
};
const IDENTITIES = [
  { unit: 'web', serviceAccount: 'shop/web' },
  { unit: 'db', serviceAccount: 'data/db' },
  { unit: 'unused', serviceAccount: 'x/unused' },
];
const ACTIONS = ['ConfigMap default/a create', 'ConfigMap default/b create', 'ConfigMap default/c create'];

interface Checked {
  readonly server: ReviewServer;
  readonly plan: TargetPlan;
  /** `<object> <action>`, of writes and then of deletes. */
  readonly actions: readonly string[];
}

async function check(rules: ReviewRules, scenario = SCENARIO, identities = IDENTITIES): Promise<Checked> {
  const server = reviewServer(rules);
  const { inventory } = applyInput(scenario);
  const store = { inventory: () => inventory } as InventoryStore;
  const context = {
    client: server.client,
    store,
    accounts: unitAccounts(identities),
    clock: virtualClock(),
    signal: new AbortController().signal,
  };
  const plan = await withoutDeniedUnits(context, planOf(scenario));
  const objects = plan.objects.map(({ id, action }) => `ConfigMap ${id.namespace}/${id.name} ${action}`);
  const removed = plan.prune.map(({ entry: { name }, action }) => `${name} ${action}`);
  return { server, plan, actions: [...objects, ...removed] };
}

describe('withoutDeniedUnits', () => {
  it('S29 leaves the plan as it is when each account may do all of it', async () => {
    const { actions, server } = await check({});
    expect(actions).toEqual([...ACTIONS, 'old delete']);
    expect(server.users).toContain('system:serviceaccount:data:db');
    expect(server.users.every((user) => user?.startsWith('system:serviceaccount:') === true)).toBe(true);
    expect(server.asked.some((question) => question.includes('/c'))).toBe(false);
  });

  it('S29 writes and deletes nothing of a unit whose account lacks one permission, and the others go on', async () => {
    const { plan, actions } = await check({ allows: ({ verb }) => verb !== 'delete' });
    expect(actions).toEqual(['ConfigMap default/a wait', ...ACTIONS.slice(1), 'old wait']);
    const { because, waitReason } = plan.objects[0] ?? {};
    expect(waitReason).toBe('IdentityDenied');
    expect(because).toBe(
      'nothing of unit web is written: ServiceAccount shop/web may not delete configmaps in namespace default. Run: ' +
        'kubectl create role kubenode-unit-web-delete-configmaps -n default --verb=delete --resource=configmaps && ' +
        'kubectl create rolebinding kubenode-unit-web-delete-configmaps -n default --role=kubenode-unit-web-delete-configmaps --serviceaccount=shop:web',
    );
    expect(plan.prune[0]).toMatchObject({ waitReason: 'IdentityDenied', because });
  });

  it.each<[what: string, rules: ReviewRules, reason: string, because: RegExp]>([
    [
      'sync may not act as the account',
      { error: new KubeError('Forbidden', 'User "sync" cannot impersonate') },
      'IdentityDenied',
      /sync may not act as ServiceAccount shop\/web\. Run: kubectl create role kubenode-sync-as-web -n shop --verb=impersonate --resource=serviceaccounts --resource-name=web && .*--serviceaccount=kubenode-system:kubenode-sync\. User "sync" cannot impersonate/,
    ],
    [
      'the account does not exist',
      { accountError: new KubeError('NotFound', 'not found') },
      'IdentityMissing',
      /ServiceAccount shop\/web not found\. Run: kubectl create serviceaccount web -n shop, or/,
    ],
    [
      'the account is being deleted',
      { account: { deletionTimestamp: '2030-01-01T00:00:00Z' } },
      'IdentityMissing',
      /not found/,
    ],
    [
      'the account cannot be read',
      { accountError: new KubeError('Forbidden', 'no get') },
      'IdentityUnknown',
      /it is unknown what ServiceAccount shop\/web may do: no get/,
    ],
    [
      'the server fails to answer',
      { error: new KubeError('ServerError', 'webhook down') },
      'IdentityUnknown',
      /it is unknown what ServiceAccount shop\/web may do: webhook down/,
    ],
  ])('S29 holds only the units with an account back when %s', async (_, rules, reason, because) => {
    const { plan, actions } = await check(rules);
    expect(actions).toEqual([
      'ConfigMap default/a wait',
      'ConfigMap default/b wait',
      'ConfigMap default/c create',
      'old wait',
    ]);
    expect(plan.objects[0]).toMatchObject({
      waitReason: reason,
      because: expect.stringMatching(because) as string,
    });
  });

  it('S29 rejects when the server is unreachable, which no unit survives', async () => {
    const error = new KubeError('Unreachable', 'no route');
    await expect(check({ error })).rejects.toThrow('no route');
  });

  it('S29 rejects an error that is not of the server', async () => {
    await expect(check({ error: new Error('a bug') })).rejects.toThrow('a bug');
  });

  it('S29 refuses a rule that the plan gives to an account, without a question', async () => {
    const rule = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'NodeRemedier', metadata: { name: 'hung' } };
    const { plan, server } = await check({}, { ...SCENARIO, git: [unit('web', [rule])] });
    expect(plan.objects[0]).toMatchObject({ action: 'wait', waitReason: 'IdentityDenied' });
    expect(plan.objects[0]?.because).toMatch(/only kubenode-sync may write kubenode\.dev\/NodeRemedier hung/);
    expect(server.asked).toEqual([]);
  });

  it('S29 asks nothing where a unit with an account has nothing to write', async () => {
    const { server, actions } = await check({ error: new KubeError('Forbidden', 'no') }, SCENARIO, [
      { unit: 'unused', serviceAccount: 'x/unused' },
    ]);
    expect([server.asked, server.accounts]).toEqual([[], []]);
    expect(actions).toEqual([...ACTIONS, 'old delete']);
  });
});
