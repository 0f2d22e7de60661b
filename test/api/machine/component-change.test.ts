import { describe, expect, it } from 'vitest';
import type { Target } from '../../../src/agent/target/target.ts';
import { changeBetween } from '../../../src/api/machine/component-change.ts';
import { agentFile, agentUnit, target } from '../../support/agent/targets.ts';

const RELOAD = { reload: { signal: 'HUP' } } as const;

function explain(from: Target | undefined, to: Target | undefined): string {
  const { class: found, stop, reload, because } = changeBetween(from, to);
  return `${found}: stop [${[...stop].join()}] reload [${[...reload].join()}]: ${because}`;
}

const V1 = target('1.0');

describe('changeBetween', () => {
  it.each<[string, Target | undefined, Target | undefined, string]>([
    ['the same target', V1, V1, 'None: stop [] reload []: no difference'],
    [
      'a first install',
      undefined,
      V1,
      'None: stop [] reload []: unit proxy added, file /etc/proxy/proxy.conf changed',
    ],
    [
      'a first install over a unit that the host runs',
      undefined,
      target('1.0', { units: [agentUnit('kubelet', { existing: true })], activation: 'Drain' }),
      'Drain: stop [kubelet] reload []: unit kubelet added, file /etc/proxy/proxy.conf changed',
    ],
    [
      'the removal of a unit that the host had before',
      target('1.0', { units: [agentUnit('ssh', { existing: true })], activation: 'None', files: [] }),
      undefined,
      'None: stop [] reload []: unit ssh removed',
    ],
    [
      'another artifact',
      V1,
      target('1.1'),
      'Restart: stop [proxy] reload []: artifact changed, unit proxy changed, file /etc/proxy/proxy.conf changed',
    ],
    [
      'the same artifact, unpacked instead of copied',
      V1,
      target('1.0', { artifact: { ...V1.artifact, format: 'TarGz' } as NonNullable<Target['artifact']> }),
      'Restart: stop [proxy] reload []: artifact changed, unit proxy changed',
    ],
    [
      'another artifact of class Drain',
      V1,
      target('1.1', { activation: 'Drain', files: V1.files }),
      'Drain: stop [proxy] reload []: artifact changed, unit proxy changed',
    ],
    [
      'a removal',
      V1,
      undefined,
      'Restart: stop [proxy] reload []: unit proxy removed, file /etc/proxy/proxy.conf changed',
    ],
    [
      'a file that needs a reload',
      target('1.0', {
        units: [agentUnit('proxy', RELOAD)],
        files: [agentFile('/a', '1', { onChange: 'Reload' })],
      }),
      target('1.0', {
        units: [agentUnit('proxy', RELOAD)],
        files: [agentFile('/a', '2', { onChange: 'Reload' })],
      }),
      'Reload: stop [] reload [proxy]: file /a changed',
    ],
    [
      'a reload of a unit that cannot reload: it restarts',
      target('1.0', { units: [agentUnit('proxy')], files: [agentFile('/a', '1', { onChange: 'Reload' })] }),
      target('1.0', { units: [agentUnit('proxy')], files: [agentFile('/a', '2', { onChange: 'Reload' })] }),
      'Restart: stop [proxy] reload []: file /a changed',
    ],
    [
      'a file of one of two units',
      target('1.0', {
        units: [agentUnit('a'), agentUnit('b')],
        files: [agentFile('/a', '1', { units: ['b'] })],
      }),
      target('1.0', {
        units: [agentUnit('a'), agentUnit('b')],
        files: [agentFile('/a', '2', { units: ['b'] })],
      }),
      'Restart: stop [b] reload []: file /a changed',
    ],
    [
      'a file that no unit reads again',
      target('1.0', { files: [agentFile('/a', '1', { onChange: 'None' })] }),
      target('1.0', { files: [agentFile('/a', '2', { onChange: 'None' })] }),
      'None: stop [] reload []: file /a changed',
    ],
    [
      'mode and owner only',
      target('1.0', { files: [agentFile('/a', '1')] }),
      target('1.0', { files: [agentFile('/a', '1', { mode: '0600', owner: 'joe:joe' })] }),
      'None: stop [] reload []: no difference',
    ],
    [
      'a file of class Reboot in a component without units',
      target('1.0', { units: [], files: [agentFile('/etc/sysctl', '1', { onChange: 'Reboot' })] }),
      target('1.0', { units: [], files: [agentFile('/etc/sysctl', '2', { onChange: 'Reboot' })] }),
      'Reboot: stop [] reload []: file /etc/sysctl changed',
    ],
    [
      'another directory with the same artifact',
      V1,
      {
        ...V1,
        id: 'sha256:2',
        directory: '/opt/kubenode/proxy/1.0.1-x',
        units: V1.units.map((unit) => ({
          ...unit,
          exec: { argv: ['/opt/kubenode/proxy/1.0.1-x/proxy'], env: {}, user: 'root' },
        })),
      },
      'None: stop [] reload []: no difference',
    ],
  ])('finds for %s', (_name, from, to, expected) => {
    expect(explain(from, to)).toBe(expected);
  });
});
