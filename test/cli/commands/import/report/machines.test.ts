import { describe, expect, it } from 'vitest';
import { validate } from '../../../../../src/api/validation/validate.ts';
import { makeMachines } from '../../../../../src/cli/commands/import/report/machines.ts';
import { hostReport, importHost } from './hosts.ts';

const SETTINGS = { secret: 'rack7', skipped: [] };

describe('makeMachines', () => {
  it('MAC-11 pins the keys that were verified, in objects that are valid', () => {
    const hosts = [
      importHost('n1'),
      {
        ...importHost('10.0.0.2', { zone: 'z1', labels: { pool: 'storage' } }),
        target: { address: '10.0.0.2', port: 2022, user: 'admin' },
      },
    ];
    const reports = [hostReport(), hostReport({ name: 'n2', state: 'Warn' })];
    const { machines, problems } = makeMachines(hosts, reports, { ...SETTINGS, skipped: ['Swap'] });
    expect(problems).toEqual([]);
    expect(machines.flatMap((machine) => validate(machine))).toEqual([]);
    expect(machines[1]).toEqual({
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Machine',
      metadata: { name: 'n2', labels: { pool: 'storage' } },
      spec: {
        infra: { provider: 'ssh' },
        import: {
          address: '10.0.0.2',
          port: 2022,
          user: 'admin',
          credentialsRef: { name: 'rack7' },
          hostKeys: [{ algorithm: 'ssh-ed25519', fingerprint: `SHA256:${'a'.repeat(43)}` }],
          skipChecks: ['Swap'],
        },
        zone: 'z1',
        node: { labels: { pool: 'storage' } },
      },
    });
  });

  it('MAC-11 pins the key of a jump host, and makes no Machine without it', () => {
    const target = { address: 'bastion', port: 22, user: 'jump' };
    const keys = [{ algorithm: 'ssh-ed25519', fingerprint: `SHA256:${'b'.repeat(43)}` }];
    const hosts = [
      importHost('n1', { via: { target, hostKeys: { type: 'Pinned', keys } } }),
      importHost('n2', { via: { target, hostKeys: { type: 'TrustOnFirstUse' } } }),
    ];
    const reports = [hostReport(), hostReport({ name: 'n2' })];
    const { machines, problems } = makeMachines(hosts, reports, SETTINGS);
    expect(machines).toMatchObject([{ spec: { import: { via: { ...target, hostKeys: keys } } } }]);
    expect(problems).toEqual([
      expect.stringContaining('has a jump host without a pinned key: add hostKeys to its via in --from'),
    ]);
  });

  it('makes none for a host that failed or could not be checked', () => {
    const hosts = [importHost('n1'), importHost('n2')];
    const reports = [hostReport({ state: 'Fail' }), hostReport({ state: 'Error' })];
    expect(makeMachines(hosts, reports, SETTINGS)).toEqual({ machines: [], problems: [] });
  });

  it('names hosts without a name, with an invalid one, and with the same one', () => {
    const names = ['n1', 'n1', 'N_3', undefined];
    const reports = names.map((name, index) => {
      const { name: _, ...rest } = hostReport({ host: `h${index}` });
      return { ...rest, ...(name !== undefined && { name }) };
    });
    const { machines, problems } = makeMachines(
      reports.map(({ host }) => importHost(host)),
      reports,
      SETTINGS,
    );
    expect(machines).toEqual([]);
    expect(problems).toEqual([
      'h0 has the name of another host, n1',
      'h1 has the name of another host, n1',
      'h2 has no name for a Machine: give it one in --from',
      'h3 has no name for a Machine: give it one in --from',
    ]);
  });
});
