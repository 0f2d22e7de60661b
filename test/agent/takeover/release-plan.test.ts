import { describe, expect, it } from 'vitest';
import type { HostCleanup } from '../../../src/agent/takeover/record.ts';
import {
  formatReleaseStep,
  type InstalledComponent,
  planHostRelease,
  planTraces,
} from '../../../src/agent/takeover/release-plan.ts';
import { target } from '../../support/agent/targets.ts';

function component(name: string, ...dependsOn: string[]): InstalledComponent {
  const targets = [
    target('1.0', { component: name, dependsOn: dependsOn.map((each) => ({ component: each })) }),
  ];
  return { component: name, targets, damaged: false };
}

const COMPONENTS = [
  component('cni', 'containerd'),
  component('containerd'),
  component('kubelet', 'containerd', 'cni'),
];
const FIRST = 'EndUpgrade, StopAgent';
const COMPONENT_STEPS =
  'RemoveComponent kubelet, RemoveComponent cni, RemoveComponent containerd, ' +
  'RemoveTraces kubelet, RemoveTraces cni, RemoveTraces containerd, ' +
  'RemoveVersions kubelet, RemoveVersions cni, RemoveVersions containerd';

describe('planHostRelease', () => {
  it.each<[name: string, cleanup: HostCleanup, components: readonly InstalledComponent[], steps: string]>([
    [
      'removes first what depends on others, and the program last',
      'Restore',
      COMPONENTS,
      `${FIRST}, ${COMPONENT_STEPS}, RemoveUnit, RemoveCredentials, RemoveState, RemoveProgram`,
    ],
    [
      'removes data for Wipe only',
      'Wipe',
      COMPONENTS,
      `${FIRST}, ${COMPONENT_STEPS}, RemoveData kubelet, RemoveData cni, RemoveData containerd, RemoveUnit, RemoveCredentials, RemoveState, RemoveProgram`,
    ],
    [
      'leaves components for Orphan',
      'Orphan',
      COMPONENTS,
      `${FIRST}, RemoveUnit, RemoveCredentials, ForgetMachine, RemoveProgram`,
    ],
    [
      'removes an agent without components',
      'Restore',
      [],
      `${FIRST}, RemoveUnit, RemoveCredentials, RemoveState, RemoveProgram`,
    ],
    [
      'ends where components depend on each other',
      'Restore',
      [component('a', 'b'), component('b', 'a')],
      `${FIRST}, RemoveComponent a, RemoveComponent b, RemoveTraces a, RemoveTraces b, RemoveVersions a, RemoveVersions b, RemoveUnit, RemoveCredentials, RemoveState, RemoveProgram`,
    ],
  ])('MAC-20 plans a release that %s', (_, cleanup, components, steps) => {
    expect(planHostRelease({ cleanup, components }).map(formatReleaseStep).join(', ')).toBe(steps);
  });
});

describe('planTraces', () => {
  const targets = [
    target('1.1', {
      stateDirectories: ['/var/lib/kubelet', '/etc/cni'],
      networkInterfaces: ['cni0', 'eth0'],
    }),
    target('1.0', { stateDirectories: ['/var/lib/kubelet', '/run/old'] }),
    target('0.9'),
  ];

  it('MAC-20 removes what no version found on the host, once', () => {
    expect(planTraces({ targets }, ['/etc/cni', '/var/lib/dpkg', '/sys/class/net/eth0'])).toEqual({
      directories: ['/var/lib/kubelet', '/run/old'],
      interfaces: ['/sys/class/net/cni0'],
      unknown: [],
    });
  });

  it('MAC-20 removes nothing where it is not known what was there before', () => {
    expect(planTraces({ targets }, undefined)).toEqual({
      directories: [],
      interfaces: [],
      unknown: ['/var/lib/kubelet', '/etc/cni', '/run/old', '/sys/class/net/cni0', '/sys/class/net/eth0'],
    });
  });
});
