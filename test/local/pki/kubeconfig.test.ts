import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/kube/auth/config.ts';
import { bringUp } from '../../../src/local/fleet.ts';
import { stateFolder } from '../../../src/local/folders.ts';
import { layoutOf } from '../../../src/local/layout.ts';
import { ensureAccess, kubeconfigFor } from '../../../src/local/pki/access.ts';
import { componentKubeconfig, localKubeconfig } from '../../../src/local/pki/kubeconfig.ts';
import { principalNamed } from '../../../src/local/pki/principal.ts';
import { kubeconfigSecrets } from '../../../src/local/pki/secrets.ts';
import { type ClusterState, type FleetState, writeState } from '../../../src/local/state.ts';
import { statusOf } from '../../../src/local/status.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../../support/temp.ts';

const NOW = new Date('2030-01-01T00:00:00.000Z');
const HUB = cluster('hub', 16_443);
const STATE: FleetState = { version: 1, etcdPort: 17_443, clusters: [HUB, cluster('test', 16_444)] };

describe('the kubeconfigs of a fleet', () => {
  it('have a context for each cluster, the hub first, and load as others do', async () => {
    const layout = layoutOf(tempFolder('kubeconfig'));
    await ensureAccess(STATE, layout, NOW);
    for (const [context, server] of [
      [undefined, 'https://127.0.0.1:16443'],
      ['hub', 'https://127.0.0.1:16443'],
      ['test', 'https://127.0.0.1:16444'],
    ] as const) {
      const config = await loadConfig({
        kubeconfig: layout.kubeconfig,
        clock: createSystemClock(),
        ...(context ? { context } : {}),
      });
      expect(config.connection.server).toBe(server);
    }
  });

  it('follow a change of port', async () => {
    const layout = layoutOf(tempFolder('kubeconfig'));
    await ensureAccess(STATE, layout, NOW);
    await ensureAccess({ ...STATE, clusters: [{ ...HUB, port: 20_000 }] }, layout, NOW);
    for (const kubeconfig of [layout.kubeconfig, layout.cluster('hub').kubeconfig]) {
      const { connection } = await loadConfig({ kubeconfig, clock: createSystemClock() });
      expect(connection.server).toBe('https://127.0.0.1:20000');
    }
  });

  it('name each user by its cluster: credentials are cached by that name', async () => {
    const layout = layoutOf(tempFolder('kubeconfig'));
    const { access } = { access: await ensureAccess(STATE, layout, NOW) };
    const names = kubeconfigSecrets({ state: STATE, access }).map((secret) => {
      const { kubeconfig = '' } = secret['data'] as Record<string, string>;
      return (parse(Buffer.from(kubeconfig, 'base64').toString()) as { users: { name: string }[] }).users[0]
        ?.name;
    });
    expect(new Set(names).size).toBe(2);
  });

  it('of a program name files, so that a renewed certificate needs no restart', () => {
    const paths = { server: 'https://127.0.0.1:1', caFile: '/x/ca.crt', certificateFile: '/x/me.pem' };
    const { users, clusters } = parse(componentKubeconfig(paths)) as {
      users: { user: unknown }[];
      clusters: { cluster: unknown }[];
    };
    expect(users[0]?.user).toEqual({ 'client-certificate': '/x/me.pem', 'client-key': '/x/me.pem' });
    expect(clusters[0]?.cluster).toEqual({
      server: 'https://127.0.0.1:1',
      'certificate-authority': '/x/ca.crt',
    });
  });

  it('for another principal carry its certificate', async () => {
    const layout = layoutOf(tempFolder('kubeconfig'));
    await ensureAccess(STATE, layout, NOW);
    const text = await kubeconfigFor(HUB, layout, principalNamed('jane', ['team-a']), NOW);
    const { users } = parse(text) as { users: { user: Record<string, string> }[] };
    const pem = Buffer.from(users[0]?.user['client-certificate-data'] ?? '', 'base64');
    expect(new X509Certificate(pem).subject.split('\n')).toEqual(['O=team-a', 'CN=jane']);
  });

  it('cannot be made for a cluster that was never up', async () => {
    const promise = kubeconfigFor(HUB, layoutOf(tempFolder('kubeconfig')), principalNamed('jane'), NOW);
    await expect(promise).rejects.toMatchObject({ code: 'NotFound', hint: 'kubenode local up' });
  });
});

describe('statusOf', () => {
  it('says that certificates have expired, rather than that nothing answers', async () => {
    const layout = layoutOf(realpathSync(tempFolder('status')));
    await writeState(layout.stateFile, STATE);
    await ensureAccess(STATE, layout, NOW);
    const at = async (now: Date): Promise<unknown> =>
      (await statusOf(layout.root, now))?.clusters[0]?.because;
    expect(await at(NOW)).toBe('no process runs');
    expect(await at(new Date('2031-01-02T00:00:00.000Z'))).toBe(
      'its certificates have expired: kubenode local up renews them',
    );
  });
});

describe('bringUp', () => {
  it('says a clear word on a platform that cannot run it, and leaves nothing there', async () => {
    const dir = join(tempFolder('other'), 'fleet');
    const host = { platform: 'darwin', arch: 'arm64' };
    const quiet = { env: {}, clock: createSystemClock(), tell: () => undefined, warn: () => undefined };
    const promise = bringUp({ ...quiet, dir, host }, () => Promise.resolve());
    await expect(promise).rejects.toMatchObject({ code: 'Unsupported', where: 'darwin/arm64' });
    expect(existsSync(dir)).toBe(false);
  });
});

describe('localKubeconfig', () => {
  it('is the merged file of the fleet in the usual place, once there is one', () => {
    const env = { XDG_STATE_HOME: tempFolder('state') };
    expect(localKubeconfig(env)).toBeUndefined();
    mkdirSync(stateFolder(env), { recursive: true });
    const path = join(stateFolder(env), 'kubeconfig');
    writeFileSync(path, '');
    expect(localKubeconfig(env)).toBe(path);
  });
});

describe('principalNamed', () => {
  it.each([
    [
      'kubenode-sync',
      [],
      'system:serviceaccount:kubenode-system:kubenode-sync',
      ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'],
    ],
    [
      'system:serviceaccount:default:app',
      [],
      'system:serviceaccount:default:app',
      ['system:serviceaccounts', 'system:serviceaccounts:default'],
    ],
    ['kubenode:agent:m-1', [], 'kubenode:agent:m-1', ['kubenode:agents']],
    ['system:node:m-1', [], 'system:node:m-1', ['system:nodes']],
    ['jane', ['team-a'], 'jane', ['team-a']],
    ['kubenode-unheard-of', [], 'kubenode-unheard-of', []],
  ])('%s %j', (name, more, user, groups) => {
    expect(principalNamed(name, more)).toEqual({ user, groups });
  });
});

describe('stateFolder', () => {
  it.each([
    [{ HOME: '/home/a' }, '/home/a/.local/state/kubenode/local'],
    [{ HOME: '/home/a', XDG_STATE_HOME: '/s' }, '/s/kubenode/local'],
    [{ HOME: '/home/a', XDG_STATE_HOME: 'relative' }, '/home/a/.local/state/kubenode/local'],
  ])('%j', (env, expected) => {
    expect(stateFolder(env)).toBe(expected);
  });
});

function cluster(name: string, port: number): ClusterState {
  const ports = { port, controllerManagerPort: port + 2000, schedulerPort: port + 3000 };
  return { name, ...ports, bindAddress: '127.0.0.1', names: [], controllers: true };
}
