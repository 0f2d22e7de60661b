import { describe, expect, it } from 'vitest';
import { isAllowedFlag } from '../../../../src/controllers/hosting/plan/flags.ts';

const PARTS = ['apiServer', 'controllerManager', 'scheduler'] as const;

describe('the flags that a Cluster may set', () => {
  it.each([
    ['apiServer', 'feature-gates'],
    ['apiServer', 'v'],
    ['apiServer', 'event-ttl'],
    ['controllerManager', 'concurrent-gc-syncs'],
    ['controllerManager', 'node-monitor-grace-period'],
    ['scheduler', 'kube-api-qps'],
  ] as const)('of %s contain %s', (part, name) => {
    expect(isAllowedFlag(part, name)).toBe(true);
  });

  // Files with odd names, which a list of what is refused did not find, come first.
  it.each([
    'write-config-to',
    'pv-recycler-pod-template-filepath-nfs',
    'kubelet-certificate-authority',
    'audit-log-path',
    'audit-webhook-config-file',
    'admission-control-config-file',
    'enable-admission-plugins',
    'disable-admission-plugins',
    'egress-selector-config-file',
    'encryption-provider-config',
    'token-auth-file',
    'cert-dir',
    'kubeconfig',
    'oidc-issuer-url',
    'external-hostname',
    'cloud-provider',
    'secure-port',
    'bind-address',
    'tls-cert-file',
    'client-ca-file',
    'etcd-servers',
    'authorization-mode',
    'anonymous-auth',
    '',
    '-v',
    'V',
    'v=4 --kubeconfig',
    'concurrent-gc-syncs=1 --x-syncs',
    'constructor',
  ])('contain no %j', (name) => {
    expect(PARTS.filter((part) => isAllowedFlag(part, name))).toEqual([]);
  });

  it('of one part are not those of another', () => {
    expect(PARTS.filter((part) => isAllowedFlag(part, 'event-ttl'))).toEqual(['apiServer']);
    expect(PARTS.filter((part) => isAllowedFlag(part, 'concurrent-gc-syncs'))).toEqual(['controllerManager']);
  });
});
