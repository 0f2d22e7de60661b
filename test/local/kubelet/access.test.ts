import { describe, expect, it } from 'vitest';
import { formatIdentityKubeconfig } from '../../../src/agent/identity/kubeconfig.ts';
import { parseIdentityKubeconfig } from '../../../src/local/kubelet/access.ts';

describe('parseIdentityKubeconfig', () => {
  it.each([[{}], [{ caFile: '/ca.crt' }]])('reads what the agent writes: %j', (ca) => {
    const text = formatIdentityKubeconfig({
      server: 'https://10.0.0.1:6443',
      certificateFile: '/current.pem',
      ...ca,
    });
    expect(parseIdentityKubeconfig(text)).toEqual({
      server: 'https://10.0.0.1:6443',
      certFile: '/current.pem',
      keyFile: '/current.pem',
      ...ca,
    });
  });

  it('refuses a kubeconfig without a client certificate', () => {
    const text = JSON.stringify({
      clusters: [{ cluster: { server: 'https://s' } }],
      users: [{ user: { token: 't' } }],
    });
    expect(() => parseIdentityKubeconfig(text)).toThrow(
      'expected a kubeconfig with a server and the files of a client',
    );
  });
});
