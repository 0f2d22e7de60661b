import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findKubeconfig, unreachableHint } from '../../src/cli/connection.ts';
import { stateFolder } from '../../src/local/folders.ts';
import { tempFolder } from '../support/temp.ts';
import { testIo } from '../support/test-io.ts';

describe('findKubeconfig', () => {
  let home: string;
  beforeEach(() => {
    home = tempFolder('home');
  });

  it('prefers the flag, then $KUBECONFIG, then ~/.kube/config, then the local fleet', () => {
    const local = create(join(stateFolder({ HOME: home }), 'kubeconfig'));
    expect(find({})).toBe(local);
    const defaultFile = create(join(home, '.kube', 'config'));
    expect(find({})).toBe(defaultFile);
    expect(find({ KUBECONFIG: '/one:/two' })).toBe('/one');
    expect(find({ KUBECONFIG: ':/two' })).toBe('/two');
    expect(find({ KUBECONFIG: '/one' }, '/flag')).toBe('/flag');
  });

  it.each<[name: string, file: string, hint: string | undefined]>([
    ['the merged kubeconfig', 'fleet/kubeconfig', 'fleet'],
    ['the kubeconfig of one cluster', 'fleet/clusters/hub/kubeconfig', 'fleet'],
    ['another kubeconfig', 'other/kubeconfig', undefined],
  ])('FST-10 knows how to start the local fleet of %s', (_, file, folder) => {
    create(join(home, 'fleet', 'state.json'));
    const io = testIo({ env: { HOME: home } });
    findKubeconfig(io, { kubeconfig: create(join(home, file)) });
    const hint = `start the local cluster with: kubenode local up --dir ${join(home, folder ?? '')}`;
    expect(unreachableHint(io)).toBe(folder === undefined ? undefined : hint);
  });

  it('uses the local fleet where nothing else is named, without a line about it for each command', () => {
    const local = create(join(stateFolder({ HOME: home }), 'kubeconfig'));
    const io = testIo({ env: { HOME: home } });
    expect(findKubeconfig(io, {})).toBe(local);
    expect(io.stderr).toBe('');
  });

  it('is undefined inside a pod, which uses its ServiceAccount', () => {
    create(join(stateFolder({ HOME: home }), 'kubeconfig'));
    expect(find({ KUBERNETES_SERVICE_HOST: '10.96.0.1' })).toBeUndefined();
  });

  it('fails with a hint if there is none', () => {
    expect(() => find({})).toThrow(
      expect.objectContaining({
        message: 'no kubeconfig found',
        where: `--kubeconfig, $KUBECONFIG, ${home}/.kube/config, the local fleet`,
        exitCode: 65,
      }),
    );
  });

  function find(env: Record<string, string>, kubeconfig?: string): string | undefined {
    const io = testIo({ env: { HOME: home, ...env } });
    return findKubeconfig(io, kubeconfig === undefined ? {} : { kubeconfig });
  }
});

function create(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  return path;
}
