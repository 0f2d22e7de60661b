import { X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/kube/auth/config.ts';
import { stateFolder } from '../../../src/local/folders.ts';
import { createLayout } from '../../../src/local/layout.ts';
import { createUserKubeconfig, ensureAccess } from '../../../src/local/pki/access.ts';
import { findLocalKubeconfig, formatComponentKubeconfig } from '../../../src/local/pki/kubeconfig.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createKubeconfigSecrets } from '../../../src/local/pki/secrets.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../../support/temp.ts';
import { HUB, NOW, STATE } from '../builders.ts';

describe('the kubeconfigs of a fleet', () => {
  it('contain a context for each cluster, the hub first', async () => {
    const layout = createLayout(tempFolder('kubeconfig'));
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

  it('are updated after a change of port', async () => {
    const layout = createLayout(tempFolder('kubeconfig'));
    await ensureAccess(STATE, layout, NOW);
    await ensureAccess({ ...STATE, clusters: [{ ...HUB, port: 20_000 }] }, layout, NOW);
    for (const kubeconfig of [layout.kubeconfig, layout.cluster('hub').kubeconfig]) {
      const { connection } = await loadConfig({ kubeconfig, clock: createSystemClock() });
      expect(connection.server).toBe('https://127.0.0.1:20000');
    }
  });

  it('permit their use as kubeconfigs, and contain unique user names, by which clients cache credentials', async () => {
    const layout = createLayout(tempFolder('kubeconfig'));
    const { access } = { access: await ensureAccess(STATE, layout, NOW) };
    const secrets = createKubeconfigSecrets({ state: STATE, access });
    const uses = secrets.map(({ metadata }) => metadata.annotations?.['kubenode.dev/secret-use']);
    expect(uses).toEqual(['kubeconfig', 'kubeconfig']);
    const names = secrets.map((secret) => {
      const { kubeconfig = '' } = secret['data'] as Record<string, string>;
      return (parse(Buffer.from(kubeconfig, 'base64').toString()) as { users: { name: string }[] }).users[0]
        ?.name;
    });
    expect(new Set(names).size).toBe(2);
  });

  it('of programs refer to files, so that a renewed certificate needs no restart', () => {
    const paths = { server: 'https://127.0.0.1:1', caFile: '/x/ca.crt', certificateFile: '/x/me.pem' };
    const { users, clusters } = parse(formatComponentKubeconfig(paths)) as {
      users: { user: unknown }[];
      clusters: { cluster: unknown }[];
    };
    expect(users[0]?.user).toEqual({ 'client-certificate': '/x/me.pem', 'client-key': '/x/me.pem' });
    expect(clusters[0]?.cluster).toEqual({
      server: 'https://127.0.0.1:1',
      'certificate-authority': '/x/ca.crt',
    });
  });

  it('for another principal contain its certificate', async () => {
    const layout = createLayout(tempFolder('kubeconfig'));
    await ensureAccess(STATE, layout, NOW);
    const text = await createUserKubeconfig(HUB, layout, createPrincipal('jane', ['team-a']), NOW);
    const { users } = parse(text) as { users: { user: Record<string, string> }[] };
    const pem = Buffer.from(users[0]?.user['client-certificate-data'] ?? '', 'base64');
    expect(new X509Certificate(pem).subject.split('\n')).toEqual(['O=team-a', 'CN=jane']);
  });

  it('cannot be created for a cluster that was never started', async () => {
    const promise = createUserKubeconfig(
      HUB,
      createLayout(tempFolder('kubeconfig')),
      createPrincipal('jane'),
      NOW,
    );
    await expect(promise).rejects.toMatchObject({
      code: 'NotFound',
      hint: 'start the cluster: kubenode local up',
    });
  });
});

describe('findLocalKubeconfig', () => {
  it('finds the merged kubeconfig in the default folder, if it exists', () => {
    const env = { XDG_STATE_HOME: tempFolder('state') };
    expect(findLocalKubeconfig(env)).toBeUndefined();
    mkdirSync(stateFolder(env), { recursive: true });
    const path = join(stateFolder(env), 'kubeconfig');
    writeFileSync(path, '');
    expect(findLocalKubeconfig(env)).toBe(path);
  });
});
