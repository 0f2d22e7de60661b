import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sendProbe } from '../../../src/local/processes/probe.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';

const run = promisify(execFile);

describe('an API server for a test file', () => {
  let server: ApiServer;

  beforeAll(async () => {
    server = await startApiServer();
  });
  beforeEach(async () => {
    await server.wipe();
  });
  afterAll(async () => {
    await server.stop();
  });

  it('accepts the administrator of its kubeconfig', async () => {
    expect(await kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).toBe(
      'kubernetes-admin',
    );
  });

  it('authenticates other principals by certificate', async () => {
    const other = await server.kubeconfigFor({ user: 'kubenode:agent:m-1', groups: ['kubenode:agents'] });
    const { stdout } = await run(server.kubectl, ['--kubeconfig', other, 'auth', 'whoami', '-o', 'json']);
    const { status } = JSON.parse(stdout) as { status: { userInfo: { username: string; groups: string[] } } };
    expect(status.userInfo.username).toBe('kubenode:agent:m-1');
    expect(status.userInfo.groups).toEqual(['kubenode:agents', 'system:authenticated']);
  });

  it('refuses a certificate of another CA', async () => {
    const other = await startApiServer();
    const client = other.certificateFor({ user: 'kubernetes-admin', groups: ['system:masters'] });
    await other.stop();
    const response = await sendProbe({ url: `${server.url}/api/v1/nodes`, caPem: server.caPem, client });
    expect(response.status).toBe(401);
  });

  it.each(['first', 'second'])(
    'wipes the objects of a test, including finalizers and namespaces (%s time)',
    async () => {
      expect(await kubectl('get', 'namespaces', 'left', '--ignore-not-found')).toBe('');
      await kubectl('create', 'namespace', 'left');
      await kubectl('create', 'configmap', 'kept', '--namespace=left', '--from-literal=a=b');
      const finalizer = '{"metadata":{"finalizers":["example.com/never"]}}';
      await kubectl('patch', 'configmap', 'kept', '--namespace=left', '--type=merge', `--patch=${finalizer}`);
      await kubectl('label', 'namespace', 'default', 'touched=yes');
      await server.wipe();
      expect(
        await kubectl('get', 'configmaps', '--all-namespaces', '--field-selector=metadata.name=kept'),
      ).toBe('');
      expect(await kubectl('get', 'namespaces', '--selector=touched=yes')).toBe('');
    },
  );

  it('restores the objects of keep', async () => {
    await kubectl('create', 'namespace', 'foundation');
    await server.keep();
    await kubectl('delete', 'namespace', 'foundation', '--wait=false');
    await server.wipe();
    expect(await kubectl('get', 'namespace', 'foundation', '-o', 'jsonpath={.status.phase}')).toBe('Active');
  });

  it('restarts after a kill with all data at the same address', async () => {
    await kubectl('create', 'configmap', 'survivor');
    await server.kill('SIGKILL');
    await expect(kubectl('get', 'configmap', 'survivor')).rejects.toThrow(/refused|EOF|reset/);
    await server.start();
    expect(await kubectl('get', 'configmap', 'survivor', '-o', 'name')).toBe('configmap/survivor');
  });

  async function kubectl(...args: string[]): Promise<string> {
    const { stdout } = await run(server.kubectl, ['--kubeconfig', server.kubeconfig, ...args]);
    return stdout.trim();
  }
});
