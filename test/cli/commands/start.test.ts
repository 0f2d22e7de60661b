import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endedProcesses, introduction } from '../../../src/cli/commands/start.ts';
import type { LocalFleetStatus, LocalProcessStatus, ProcessReadiness } from '../../../src/local/status.ts';
import { tempFolder } from '../../support/temp.ts';

function processOf(program: string, state: ProcessReadiness): LocalProcessStatus {
  return { program, state, port: 1, log: 'x.log' };
}

function statusOf(etcd: ProcessReadiness, server: ProcessReadiness): LocalFleetStatus {
  const processes = [processOf('kube-apiserver', server)];
  const hub = { name: 'hub', state: server, because: 'why', server: 'https://x', kubeconfig: 'k', processes };
  return { folder: '/f', kubeconfig: '/f/kubeconfig', etcd: processOf('etcd', etcd), clusters: [hub] };
}

describe('kubenode start', () => {
  it.each<[name: string, status: LocalFleetStatus | undefined, ended: readonly string[]]>([
    ['that all run', statusOf('Ready', 'Ready'), []],
    ['that one was killed', statusOf('Ready', 'Stopped'), ['kube-apiserver of hub']],
    ['that etcd was killed', statusOf('NotReady', 'Stopped'), ['kube-apiserver of hub']],
    ['that one is not ready, which may end', statusOf('Ready', 'NotReady'), []],
    ['that all were stopped, on purpose', statusOf('Stopped', 'Stopped'), []],
    ['that the fleet was removed', undefined, []],
  ])('FST-10 starts what ended when it finds %s', (_, status, ended) => {
    expect(endedProcesses(status)).toEqual(ended);
  });

  it.each<[version: string, next: string]>([
    ["web: '1.0.0'", "s/web: '.*'/web: '1.1.0'/"],
    ["web: '1.1.0'", "s/web: '.*'/web: '1.0.0'/"],
    ["web: '1.7.0'", "s/web: '.*'/web: '1.1.0'/"],
  ])(
    'prints an edit that changes something in a repository with %s, and with any version of the tour',
    (version, edit) => {
      expect(introductionWith(`export const versions = { ${version} };`)).toContain(`sed -i "${edit}"`);
    },
  );

  it('DAT-08 prints the address of Prometheus below that of the console, and of a hub alone', () => {
    const started = { folder: '/', isOurs: true, dirOption: '', metrics: { port: 9091 } };
    const demo = { repository: '/none', port: 1 };
    expect(introduction('/k', { ...started, demo })).toContain(
      'The fleet in a browser: http://127.0.0.1:1/\nPrometheus, which scrapes it: http://127.0.0.1:9091/\n\nA hub and',
    );
    const hub = introduction('/k', { ...started, demo: undefined });
    expect(hub).toContain('Prometheus, which scrapes it: http://127.0.0.1:9091/\n\nThe hub is');
  });

  it('prints no edit of a repository whose versions it cannot read', () => {
    const text = introductionWith('export const versions = {};');
    expect(text).not.toContain('sed');
    expect(text).toContain('kubenode status --watch');
    expect(text).toContain('In another terminal:\n  cd /src/kubenode\n');
  });
});

function introductionWith(versions: string): string {
  const repository = tempFolder('demo');
  mkdirSync(join(repository, 'fleet'));
  writeFileSync(join(repository, 'fleet/versions.ts'), versions);
  return introduction('/k', {
    folder: '/src/kubenode',
    demo: { repository, port: 1 },
    isOurs: true,
    dirOption: '',
  });
}
