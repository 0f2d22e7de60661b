import { describe, expect, it } from 'vitest';
import {
  mergeKubeconfigs,
  readKubeconfig,
  resolveCommand,
  selectContext,
} from '../../../src/kube/auth/kubeconfig.ts';
import { text } from '../../support/kube/config-bed.ts';

const FILE = '/home/me/.kube/config';
const SOURCE = { origin: FILE, file: FILE, trusted: true };

describe('readKubeconfig', () => {
  it('makes paths absolute from the folder of the file', () => {
    const user = { 'client-certificate': 'me.crt', 'client-key': '/etc/me.key', tokenFile: 'token' };
    const config = readKubeconfig(text({ user, cluster: { 'certificate-authority': 'ca.crt' } }), SOURCE);
    expect(config.clusters[0]?.caFile).toBe('/home/me/.kube/ca.crt');
    expect(config.users[0]).toMatchObject({
      entry: { certFile: '/home/me/.kube/me.crt', keyFile: '/etc/me.key' },
      tokenFile: '/home/me/.kube/token',
      folder: '/home/me/.kube',
    });
  });

  it('reads the impersonation of a user', () => {
    const user = { as: 'jane', 'as-groups': ['a', 'b'], 'as-uid': '7', 'as-user-extra': { x: ['y'] } };
    expect(readKubeconfig(text({ user }), SOURCE).users[0]?.impersonate).toEqual({
      user: 'jane',
      groups: ['a', 'b'],
      uid: '7',
      extra: { x: ['y'] },
    });
  });
});

describe('mergeKubeconfigs', () => {
  it('keeps the first of several entries with the same name, and the first current context', () => {
    const [first, second] = ['one', 'two'].map((name, index) =>
      readKubeconfig(text({ cluster: { server: `https://${name}` }, current: index === 0 ? '' : 'a' }), {
        ...SOURCE,
        origin: name,
      }),
    );
    if (!first || !second) throw new Error('expected two');
    const merged = mergeKubeconfigs([first, second]);
    expect(merged).toMatchObject({ origin: 'one, two', currentContext: 'a' });
    expect(selectContext(merged)).toMatchObject({
      origin: 'context a of one',
      cluster: { server: 'https://one' },
    });
  });
});

describe('selectContext', () => {
  it('uses the given context before the current one', () => {
    const config = readKubeconfig(text({ current: 'x' }), SOURCE);
    expect(selectContext(config, 'a').origin).toBe(`context a of ${FILE}`);
    expect(() => selectContext(config)).toThrow('has no context x, only: a');
  });
});

describe('resolveCommand', () => {
  it.each([
    ['./bin/login', '/home/me/.kube', '/home/me/.kube/bin/login'],
    ['/bin/login', '/home/me/.kube', '/bin/login'],
    ['login', '/home/me/.kube', 'login'],
    ['./login', undefined, './login'],
  ])('resolves %s in %s to %s', (command, folder, expected) => {
    expect(resolveCommand(command, folder)).toBe(expected);
  });
});
