/** `kubenode console` on a real API server: rights that are missing, a server that is away, and two consoles at once. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { FLEET_POLICIES } from '../../../src/api/generated/resources.ts';
import { GROUP, KILL_SWITCH, MANAGER_CLI } from '../../../src/api/names.ts';
import { clusterRole, clusterRoleBinding, may, READ } from '../../../src/api/roles/rbac.ts';
import { stopPolicy } from '../../../src/cli/commands/fleet/stop.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { PAGE_FOLDER } from '../../../src/console/server/page-files.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { openEvents } from '../../console/server/event-reader.ts';
import { eventually } from '../../support/eventually.ts';
import { drop } from '../../support/fault-proxy/faults.ts';
import { faultProxy } from '../../support/fault-proxy.ts';
import { testIo } from '../../support/test-io.ts';
import { isAllowed } from '../api/access-review.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { startHub } from './hub-fixture.ts';
import { declareMachine, reportMachine } from './rollout-fixture.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false };
const ROLES: Resource = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource = { ...RBAC, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };
/** As the console names the cluster of the context itself. */
const HOME = 'this cluster';
const VIEWER = 'viewer';

const KINDS = [
  'clusters',
  'pipelines',
  'releases',
  'fleetpolicies',
  'machines',
  'machinecomponentsets',
  'remedyoperationjobs',
  'defenderpolicies',
  'defenderledgers',
];

let installed: InstalledServer;
let viewer: Client;

interface OpenConsole {
  readonly url: string;
  readonly close: () => Promise<void>;
}

async function openConsole(kubeconfig: string): Promise<OpenConsole> {
  const io = testIo({ env: { KUBECONFIG: kubeconfig } });
  const code = runCommandLine(io, ['console', '--port', '0']);
  const url = await eventually(
    () => Promise.resolve(/http:\S+/.exec(io.stdout)?.[0]),
    `the console does not start: ${io.stderr}`,
  );
  return {
    url,
    close: async () => {
      io.interrupt();
      await code;
    },
  };
}

/** What a page that is opened now is sent first, as soon as it is so. */
async function shows({ url }: OpenConsole, isSo: (state: ConsoleState) => boolean): Promise<ConsoleState> {
  return await eventually(async () => {
    const events = await openEvents(url);
    const state = (await events.next())?.data as ConsoleState;
    events.close();
    return isSo(state) ? state : undefined;
  }, 'the console does not show it');
}

const staleOf = (state: ConsoleState): string | undefined => state.clusters[HOME]?.stale;
/** Why something is not shown or may be old, of the cluster and of the hub. */
const textsOf = (state: ConsoleState): readonly string[] =>
  [...Object.keys(state.notes).filter((text) => /forbidden|retrying/.test(text)), staleOf(state)].flatMap(
    (text) => text ?? [],
  );
const phaseOf = (state: ConsoleState, name: string): string | undefined =>
  state.machines[`${HOME}/${name}`]?.p;

const showsNoFleetLimits = ({ fleetPolicies, notes }: ConsoleState): boolean =>
  Object.keys(fleetPolicies).length === 0 && Object.keys(notes).every((text) => !text.includes('allowances'));

async function apply(resource: Resource, object: KubeObject): Promise<void> {
  await installed.server.client.apply(resource, object, { fieldManager: 'kubectl', force: true });
}

/**
 * The right to read these kinds of kubenode, and no others. The API server learns of it by a watch of its own: a console that is
 * opened before would have the rights of the test before.
 */
async function permit(kinds: readonly string[]): Promise<void> {
  await apply(ROLES, clusterRole(VIEWER, 'Reads some kinds.', [may(READ, GROUP, kinds)]));
  await eventually(async () => {
    const allowed = await Promise.all(
      KINDS.map((resource) => isAllowed(viewer, { group: GROUP, resource, verb: 'list' })),
    );
    const isInForce = KINDS.every((kind, index) => allowed[index] === kinds.includes(kind));
    return isInForce ? true : undefined;
  }, 'the rights of the viewer do not change');
}

describe('kubenode console', () => {
  beforeAll(async () => {
    await buildConsolePage(fileURLToPath(PAGE_FOLDER));
    installed = await startHub();
    await declareMachine(installed.server.client, 'm-1', { zone: 'a' });
    const viewers = { kind: 'Group', name: VIEWER, apiGroup: RBAC.group } as const;
    await apply(BINDINGS, clusterRoleBinding(VIEWER, VIEWER, [viewers]));
    viewer = await installed.as(VIEWER, [VIEWER]);
  });
  afterAll(() => installed?.stop());

  it.each([
    ['remedyoperationjobs', 'Ready'],
    ['machinecomponentsets', 'Ready'],
    ['defenderledgers', 'Ready'],
    ['pipelines', 'Ready'],
    ['releases', 'Ready'],
    ['fleetpolicies', 'Ready'],
    ['machines', undefined],
  ])(
    'names the missing right to read %s, shows the rest, and all when the right is given',
    async (kind, phase) => {
      const { server } = installed;
      const node = { cordon: { since: '2026-03-02T09:00:00Z' } };
      await reportMachine(server.client, 'm-1', { phase: 'Ready', node });
      await permit(KINDS.filter((each) => each !== kind));
      const view = await openConsole(await server.kubeconfigFor({ user: VIEWER, groups: [VIEWER] }));
      try {
        const isNamed = new RegExp(`${kind}.* forbidden`);
        await shows(
          view,
          (state) => phaseOf(state, 'm-1') === phase && textsOf(state).some((text) => isNamed.test(text)),
        );
        await permit(KINDS);
        const whole = await shows(
          view,
          (state) => phaseOf(state, 'm-1') === 'Ready' && textsOf(state).length === 0,
        );
        // Of the cordon without a right to read Nodes.
        expect(Object.entries(whole.machines)).toMatchObject([[`${HOME}/m-1`, { c: { s: 1_772_442_000 } }]]);
      } finally {
        await view.close();
      }
    },
  );

  it('keeps the last state while the API server is away, with the reason, and follows it when it is back', async () => {
    const { server } = installed;
    await reportMachine(server.client, 'm-1', { phase: 'Ready' });
    const proxy = await faultProxy(server);
    await proxy.listen({ name: 'same', server });
    const view = await openConsole(proxy.kubeconfig);
    try {
      await shows(view, (state) => phaseOf(state, 'm-1') === 'Ready');
      proxy.on({ fault: drop('before') });
      proxy.swap('default', 'same', { cutOpen: true });
      const away = await shows(view, (state) => staleOf(state) !== undefined);
      expect([phaseOf(away, 'm-1'), staleOf(away)]).toEqual([
        'Ready',
        expect.stringContaining('retrying, with the last state that was read') as string,
      ]);
      proxy.reset();
      await reportMachine(server.client, 'm-1', { phase: 'Updating' });
      const back = await shows(
        view,
        (state) => phaseOf(state, 'm-1') === 'Updating' && staleOf(state) === undefined,
      );
      expect(Object.keys(back.machines)).toEqual([`${HOME}/m-1`]);
    } finally {
      await view.close();
      await proxy.close();
    }
  });

  it('shows a stop of the fleet, that no process hands out allowances, and neither once it is resumed', async () => {
    const { client, kubeconfig } = installed.server;
    const stop = stopPolicy({ by: 'kim', reason: 'bad kernel image', scope: 'All' });
    const created = await client.create(FLEET_POLICIES, stop, { fieldManager: MANAGER_CLI });
    const view = await openConsole(kubeconfig);
    try {
      // The Lease was never held: that is known after the time that a holder may be silent.
      const shown = await shows(view, ({ fleetPolicies }) => fleetPolicies[KILL_SWITCH]?.stale !== undefined);
      expect(shown.fleetPolicies[KILL_SWITCH]).toMatchObject({
        stop: { isForAll: true, by: 'kim', reason: 'bad kernel image', resume: 'kubenode fleet resume' },
        stale: expect.stringContaining('fleet-limits was never held') as string,
      });
      await client.delete(FLEET_POLICIES, { name: KILL_SWITCH }, { uid: created.metadata.uid ?? '' });
      await shows(view, showsNoFleetLimits);
    } finally {
      await view.close();
    }
  });

  it('shows the same in two consoles at once, and in one when the other has ended', async () => {
    const { client, kubeconfig } = installed.server;
    const [one, other] = await Promise.all([openConsole(kubeconfig), openConsole(kubeconfig)]);
    try {
      await reportMachine(client, 'm-1', { phase: 'NotReady' });
      const isSo = (state: ConsoleState): boolean => phaseOf(state, 'm-1') === 'NotReady';
      const [first, second] = await Promise.all([shows(one, isSo), shows(other, isSo)]);
      expect(first.machines).toEqual(second.machines);
      await one.close();
      await reportMachine(client, 'm-1', { phase: 'Ready' });
      expect(
        Object.keys((await shows(other, (state) => phaseOf(state, 'm-1') === 'Ready')).machines),
      ).toHaveLength(1);
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  });
});
