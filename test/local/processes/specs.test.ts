import { describe, expect, it } from 'vitest';
import { layoutOf } from '../../../src/local/layout.ts';
import { isThatProcess, processesOf } from '../../../src/local/processes/specs.ts';
import type { ClusterState, FleetState } from '../../../src/local/state.ts';
import { type ProcessStatus, worstOf } from '../../../src/local/status.ts';

const LAYOUT = layoutOf('/fleet');

describe('processesOf', () => {
  const specs = processesOf(state('hub', 'test'), LAYOUT, (name) => `/bin/${name}`);

  it('names them in the order in which they need each other', () => {
    expect(specs.map(({ id }) => id)).toEqual([
      'etcd',
      'hub/kube-apiserver',
      'test/kube-apiserver',
      'hub/kube-controller-manager',
      'hub/kube-scheduler',
      'test/kube-controller-manager',
      'test/kube-scheduler',
    ]);
  });

  it('leaves out the controllers where they are not wanted', () => {
    const { clusters, ...rest } = state('hub', 'test');
    const some = clusters.map((cluster) => ({ ...cluster, controllers: cluster.name === 'test' }));
    const ids = processesOf({ ...rest, clusters: some }, LAYOUT, (name) => name).map(({ id }) => id);
    expect(ids.slice(3)).toEqual(['test/kube-controller-manager', 'test/kube-scheduler']);
  });

  it('gives each a mark that its own command carries and no other', () => {
    for (const { mark } of specs) {
      expect(specs.filter(({ command }) => command.args.includes(mark))).toHaveLength(1);
    }
  });

  it('keeps the clusters apart in etcd', () => {
    const prefixes = specs.flatMap(({ command }) =>
      command.args.filter((argument) => argument.startsWith('--etcd-prefix=')),
    );
    expect(prefixes).toEqual(['--etcd-prefix=/hub', '--etcd-prefix=/test']);
  });

  it('lets in nobody from outside unless asked to', () => {
    const listens = specs.flatMap(({ command }) =>
      command.args.filter((argument) => /bind-address|listen-.*urls/.test(argument)),
    );
    expect(listens.length).toBeGreaterThan(7);
    expect(listens.filter((argument) => !argument.includes('127.0.0.1'))).toEqual([]);
  });

  it('asks every visitor of etcd for a certificate, its peers too', () => {
    const etcd = specs[0]?.command.args ?? [];
    expect(etcd).toEqual(expect.arrayContaining(['--client-cert-auth', '--peer-client-cert-auth']));
    expect(etcd.filter((argument) => argument.includes('http://'))).toEqual([]);
  });
});

describe('isThatProcess', () => {
  const spec = { program: 'etcd', mark: '--data-dir=/fleet/etcd' } as const;

  it.each([
    ['etcd of this fleet', ['/any/where/etcd', '--name=x', '--data-dir=/fleet/etcd'], true],
    ['etcd of another fleet', ['/bin/etcd', '--data-dir=/fleet/etcd2'], false],
    ['an editor', ['/bin/vi', '--data-dir=/fleet/etcd'], false],
    ['a shell that mentions it', ['/bin/sh', '-c', 'etcd --data-dir=/fleet/etcd'], false],
    ['nothing', [], false],
  ])('%s', (_, command, expected) => {
    expect(isThatProcess(command, spec)).toBe(expected);
  });
});

describe('worstOf', () => {
  it.each<[string, string[], string, string]>([
    ['all answer', ['Ready', 'Ready', 'Ready'], 'Ready', 'all processes answer'],
    ['one is gone', ['Ready', 'Stopped', 'Ready'], 'NotReady', 'p1 does not run (log: p1.log)'],
    ['one hangs', ['NotReady', 'Ready', 'Ready'], 'NotReady', 'p0 does not answer (log: p0.log)'],
    [
      'one hangs and one is gone',
      ['NotReady', 'Ready', 'Stopped'],
      'NotReady',
      'p2 does not run (log: p2.log)',
    ],
    ['all are gone', ['Stopped', 'Stopped', 'Stopped'], 'Stopped', 'no process runs'],
  ])('%s', (_, states, worst, because) => {
    const all = states.map(
      (each, index) =>
        ({ program: `p${index}`, state: each, port: 1, log: `p${index}.log` }) as ProcessStatus,
    );
    expect(worstOf(all)).toEqual({ state: worst, because });
  });
});

function state(...names: string[]): FleetState {
  return { version: 1, etcdPort: 1, clusters: names.map(clusterAt) };
}

function clusterAt(name: string, index: number): ClusterState {
  const port = 10 * (index + 1);
  const ports = { port, controllerManagerPort: port + 1, schedulerPort: port + 2 };
  return { name, ...ports, bindAddress: '127.0.0.1', names: [], controllers: true };
}
